// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.http.HttpTimeouts;
import gatun.listener.TlsFiles;
import gatun.server.settings.ListenerSettings.BindSettings;
import gatun.server.settings.ListenerSettings.HttpSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Option;

/** The HTTP listener. Filled by picocli, read once. */
final class HttpFlags {
    @Option(
            names = "--allow-http",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether HTTP requests are taken.")
    boolean allowed;

    @Option(
            names = "--http-address",
            paramLabel = "ADDRESS",
            defaultValue = "0.0.0.0",
            description = "The address to listen on, 0.0.0.0 for all.")
    String address = "";

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            defaultValue = "8000",
            converter = FlagValues.Port.class,
            description = "The port to listen on, 0 for any free port.")
    int port;

    @Option(names = "--http-unix-socket", paramLabel = "PATH", description = "Also listen on a Unix socket at PATH.")
    Optional<Path> unixSocket = Optional.empty();

    @Option(
            names = "--http-max-input-size",
            paramLabel = "BYTES",
            defaultValue = "67108864",
            converter = FlagValues.ByteSize.class,
            description = "The most bytes that a request may have.")
    long maxInputSize;

    @Option(
            names = "--http-idle-timeout-secs",
            paramLabel = "SECONDS",
            defaultValue = "300",
            converter = FlagValues.Interval.class,
            description =
                    "How long a client may send or take nothing while it should, or take to send the head of a request,"
                            + " before its connection is closed.")
    int idleTimeoutSeconds;

    @Option(
            names = "--http-min-body-rate",
            paramLabel = "BYTES",
            defaultValue = "240",
            converter = FlagValues.ByteSizeOrNone.class,
            description = "The bytes a second that a client has to send of a body: one that has fallen behind by"
                    + " --http-idle-timeout-secs has its connection closed. 0 for any number.")
    long bodyByteRate;

    @Option(
            names = "--http-cors-allow-origin",
            paramLabel = "ORIGIN",
            description =
                    "Lets browsers show answers to pages of ORIGIN, such as https://console.example, or * for any;"
                            + " may be"
                            + " given several times.")
    Set<String> allowedOrigins = new HashSet<>();

    @Option(
            names = "--rest_api_port",
            paramLabel = "PORT",
            defaultValue = "0",
            converter = FlagValues.Port.class,
            description = "A port for TensorFlow Serving's REST API alone, which --http-port speaks too; 0 for none.")
    int restPort;

    @Option(
            names = "--rest_api_enable_cors_support",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether browsers may show answers of TensorFlow Serving's REST API to pages of any server.")
    boolean restCors;

    @Option(
            names = "--rest_api_timeout_in_ms",
            paramLabel = "MILLISECONDS",
            defaultValue = "30000",
            converter = FlagValues.Milliseconds.class,
            description = "How long a model may take for a request of TensorFlow Serving's REST API.")
    int restTimeoutMillis;

    @Option(
            names = "--enable_signature_method_name_check",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description =
                    "Whether a signature that is asked to classify or regress must call its method so, over REST and"
                            + " gRPC.")
    boolean methodNames;

    /** The settings, with {@code tls} on the port. */
    HttpSettings settings(Optional<TlsFiles> tls) {
        return new HttpSettings(
                new BindSettings(allowed, address, port, unixSocket, tls),
                maxInputSize,
                new HttpTimeouts(Duration.ofSeconds(idleTimeoutSeconds), bodyByteRate),
                allowedOrigins);
    }
}
