// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.memory.tensor.IoFailure;
import gatun.server.top.Top;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gatun top}: shows what a running server does, again and again. */
@Command(
        name = "top",
        description =
                "Shows what the models of a running server do, Gatun's or Triton's: again and again in a terminal,"
                        + " once elsewhere. Rates, means and batches are those of the last interval.",
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class TopCommand implements Callable<Integer> {
    private static final int UNREACHABLE = 1;
    private static final int INTERVAL_LIMIT = 3600;
    private static final Pattern USUAL_PORT = Pattern.compile("(?:http|grpc)://(\\[[^\\]]*\\]|[^:/\\[\\]]+):800[01]/?");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Mixin
    RemoteServerFlags server = new RemoteServerFlags();

    @Option(
            names = "--metrics-url",
            paramLabel = "URL",
            description = "Where the server's metrics are, for memory, GPUs, waiting requests and quantiles"
                    + " (http://HOST:8002/metrics where the port of --url is 8000 or 8001; else none).")
    Optional<String> metrics = Optional.empty();

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            defaultValue = "1",
            converter = RemoteServerFlags.Count.class,
            description = "Ask so often (default: ${DEFAULT-VALUE}).")
    int intervalSeconds;

    @Option(names = "--once", description = "Print one plain table, of one interval, and end.")
    boolean once;

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        if (intervalSeconds < 1 || intervalSeconds > INTERVAL_LIMIT) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--interval: " + intervalSeconds + " is no time to wait: expected from 1 to " + INTERVAL_LIMIT
                            + " seconds.");
        }
        try (GatunClient client = server.connect(spec.commandLine());
                Top top = new Top(
                        client, server.url, metricsPage(), Duration.ofSeconds(intervalSeconds), server.timeout())) {
            if (once || !isTerminal()) {
                top.printOnce(spec.commandLine().getOut());
            } else {
                top.show();
            }
            return 0;
        } catch (ClientException e) {
            return fail(server.describe(e));
        } catch (IOException e) {
            return fail("the terminal cannot be used: " + IoFailure.describe(e) + "; --once prints one plain table");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return fail("interrupted");
        }
    }

    private int fail(String why) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("gatun: " + why);
        err.flush();
        return UNREACHABLE;
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    private Optional<URI> metricsPage() {
        if (metrics.isPresent()) {
            try {
                URI page = new URI(metrics.get());
                if (page.getHost() != null && ("http".equals(page.getScheme()) || "https".equals(page.getScheme()))) {
                    return Optional.of(page);
                }
            } catch (URISyntaxException e) {
                throw noPage(String.valueOf(e.getMessage()));
            }
            throw noPage("'" + metrics.get() + "' has no host");
        }
        Matcher usual = USUAL_PORT.matcher(server.url);
        return usual.matches()
                ? Optional.of(URI.create("http://" + usual.group(1) + ":8002/metrics"))
                : Optional.empty();
    }

    private ParameterException noPage(String why) {
        return new ParameterException(
                spec.commandLine(), "--metrics-url: " + why + ": expected http://HOST:PORT/metrics.");
    }
}
