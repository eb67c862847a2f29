// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import gatun.client.Retries;
import gatun.client.TlsOptions;
import gatun.server.text.ModelListing;
import gatun.server.text.TextTable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gatun models}: lists the models of a running server. */
@Command(
        name = "models",
        description = "Lists what a running server serves, and in which state it is.",
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class ModelsCommand implements Callable<Integer> {
    private static final int UNREACHABLE = 1;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            defaultValue = "http://localhost:8000",
            description =
                    "Where the server is: http://HOST:PORT, https://HOST:PORT, grpc://HOST:PORT, grpcs://HOST:PORT,"
                            + " unix:PATH or grpc+unix:PATH (default: ${DEFAULT-VALUE}).")
    String url = "";

    @Option(names = "--ready", description = "List only what answers now.")
    boolean onlyReady;

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

    @Mixin
    HelpFlag help = new HelpFlag();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (GatunClient client = GatunClient.connect(options())) {
            out.print(ModelListing.of(client, onlyReady, TextTable.standard()));
            out.flush();
            return 0;
        } catch (ClientException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("gatun: " + url + ": " + e.getMessage());
            err.flush();
            return UNREACHABLE;
        }
    }

    /** Reads how many seconds there are. */
    static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return FlagType.COUNT.read(value);
        }
    }

    private ClientOptions options() {
        ClientOptions options;
        try {
            options = ClientOptions.of(url);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--url: " + e.getMessage(), e);
        }
        options = options.withDeadline(Duration.ofSeconds(timeoutSeconds)).withRetries(Retries.NONE);
        if (token.isPresent()) {
            options = options.withToken(token.get());
        }
        if (authorities.isPresent()) {
            options = options.withTls(TlsOptions.trusting(authorities.get()));
        }
        for (String header : headers) {
            int colon = header.indexOf(':');
            if (colon < 1) {
                throw new ParameterException(
                        spec.commandLine(), "--header: '" + header + "' has no name: expected NAME:VALUE.");
            }
            options = options.withHeader(
                    header.substring(0, colon).strip(),
                    header.substring(colon + 1).strip());
        }
        return options;
    }
}
