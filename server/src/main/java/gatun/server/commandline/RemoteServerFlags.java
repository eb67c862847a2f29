// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.TlsOptions;
import gatun.protocol.flags.FlagType;
import gatun.server.text.SafeText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags of commands that ask a running server: where it is, who asks, whom to trust, and for how long. */
final class RemoteServerFlags {
    private static final int TEXT_LIMIT = 1000;

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            defaultValue = "http://localhost:8000",
            description =
                    "Where the server is: http://HOST:PORT, https://HOST:PORT, grpc://HOST:PORT, grpcs://HOST:PORT,"
                            + " unix:PATH or grpc+unix:PATH (default: ${DEFAULT-VALUE}).")
    String url = "";

    @Option(names = "--token", paramLabel = "TOKEN", description = "Say who asks: authorization: Bearer TOKEN.")
    Optional<String> token = Optional.empty();

    @Option(
            names = "--header",
            paramLabel = "NAME:VALUE",
            description = "Send this header; may be given several times.")
    List<String> headers = List.of();

    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            description = "Trust servers whose certificate one of these (PEM) signed.")
    Optional<Path> authorities = Optional.empty();

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            converter = Count.class,
            description = "Wait no longer for an answer (default: ${DEFAULT-VALUE}).")
    int timeoutSeconds;

    /** A number of seconds. */
    static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return FlagSpecs.read(FlagType.COUNT, value);
        }
    }

    Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    /** A client without retries. Throws {@link ParameterException} when a value makes no sense. */
    GatunClient connect(CommandLine command) {
        ClientOptions options = options(command);
        try {
            return GatunClient.connect(options);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, String.valueOf(e.getMessage()), e);
        }
    }

    /** The text of a failed call. That of the server's own words does not say which server it is. */
    String describe(ClientException failure) {
        String text = SafeText.of(String.valueOf(failure.getMessage()), TEXT_LIMIT);
        return failure instanceof ServerException ? url + ": " + text : text;
    }

    /** Options for a client without retries. Throws {@link ParameterException} when a value makes no sense. */
    private ClientOptions options(CommandLine command) {
        ClientOptions options;
        try {
            options = ClientOptions.of(url);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, "--url: " + e.getMessage(), e);
        }
        options = options.withDeadline(timeout()).withRetries(Retries.NONE);
        if (token.isPresent()) {
            options = options.withToken(token.get());
        }
        if (authorities.isPresent()) {
            options = options.withTls(TlsOptions.trusting(authorities.get()));
        }
        for (String header : headers) {
            int colon = header.indexOf(':');
            if (colon < 1) {
                throw new ParameterException(command, "--header: '" + header + "' has no name: expected NAME:VALUE.");
            }
            options = options.withHeader(
                    header.substring(0, colon).strip(),
                    header.substring(colon + 1).strip());
        }
        return options;
    }
}
