// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.http.HttpTimeouts;
import gatun.listener.TlsFiles;
import gatun.server.settings.ListenerSettings.HttpSettings;
import gatun.server.settings.ListenerSettings.TensorFlowServingSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The HTTP listener. Read once. */
final class HttpFlags extends FlagGroup {
    private final BindFlags bind;
    private final Flag<Long> maxInputSize;
    private final Flag<Duration> idleTimeout;
    private final Flag<Long> bodyByteRate;
    private final Flag<List<String>> allowedOrigins;

    /** The port of TensorFlow Serving's REST API alone. */
    final Flag<Integer> restPort;

    /** Whether browsers may show its responses to pages of any server. */
    final Flag<Boolean> restCors;

    /** How long a model may take for one of its requests. */
    final Flag<Duration> restTimeout;

    /** Whether signatures must call their methods as they are asked. */
    final Flag<Boolean> methodNames;

    HttpFlags(HttpSettings standard, TensorFlowServingSettings tensorFlow) {
        bind = new BindFlags(this, "http", "HTTP", "", standard.bind());
        maxInputSize = flag(
                "--http-max-input-size",
                "BYTES",
                FlagType.BYTE_SIZE,
                standard.maxInputSize(),
                "The most bytes that a request may have.");
        idleTimeout = flag(
                "--http-idle-timeout-secs",
                "SECONDS",
                FlagType.INTERVAL,
                standard.timeouts().idleTimeout(),
                "How long a client may send or take nothing while it should, or take to send the head of a request,"
                        + " before its connection is closed.");
        bodyByteRate = flag(
                "--http-min-body-rate",
                "BYTES",
                FlagType.BYTE_SIZE_OR_NONE,
                standard.timeouts().bodyByteRate(),
                "The bytes a second that a client has to send of a body: one that has fallen behind by"
                        + " --http-idle-timeout-secs has its connection closed. 0 for any number.");
        allowedOrigins = several(
                "--http-cors-allow-origin",
                "ORIGIN",
                FlagType.TEXT,
                "Lets browsers show answers to pages of ORIGIN, such as https://console.example, or * for any;"
                        + " may be given several times.");
        restPort = flag(
                "--rest_api_port",
                "PORT",
                FlagType.PORT,
                tensorFlow.restPort(),
                "A port for TensorFlow Serving's REST API alone, which --http-port speaks too; 0 for none.");
        restCors = yesOrNo(
                "--rest_api_enable_cors_support",
                tensorFlow.protocol().anyOrigin(),
                "Whether browsers may show answers of TensorFlow Serving's REST API to pages of any server.");
        restTimeout = flag(
                "--rest_api_timeout_in_ms",
                "MILLISECONDS",
                FlagType.MILLISECONDS,
                tensorFlow.protocol().timeout(),
                "How long a model may take for a request of TensorFlow Serving's REST API.");
        methodNames = yesOrNo(
                "--enable_signature_method_name_check",
                tensorFlow.protocol().methodNames(),
                "Whether a signature that is asked to classify or regress must call its method so, over REST and"
                        + " gRPC.");
    }

    /** The settings, with {@code tls} on the port. */
    HttpSettings settings(Optional<TlsFiles> tls) {
        return new HttpSettings(
                bind.settings(tls),
                maxInputSize.value(),
                new HttpTimeouts(idleTimeout.value(), bodyByteRate.value()),
                Set.copyOf(allowedOrigins.value()));
    }
}
