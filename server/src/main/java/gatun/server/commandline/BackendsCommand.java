// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.logging.LogSettings;
import gatun.server.logging.Log;
import gatun.spi.Backend;
import gatun.spi.ModelFormat;
import gatun.spi.discovery.InstalledBackends;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code gatun backends}: what the engines declare of themselves. */
@Command(
        name = "backends",
        description = {
            "Lists the backends, the files of the models that each runs, and its options.",
            "",
            "Starts none of them: whether a library is installed, gatun check says."
        },
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class BackendsCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Option(names = "--backend-directory", paramLabel = "DIR", description = "A folder with more backends.")
    Optional<Path> directory = Optional.empty();

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        Log.install(LogSettings.standard().withInfo(false));
        PrintWriter out = spec.commandLine().getOut();
        try (InstalledBackends installed = InstalledBackends.find(directory)) {
            new EngineCatalog(installed.all()).engines().forEach(engine -> print(engine, out));
            installed.failures().forEach(failure -> spec.commandLine().getErr().println("gatun: " + failure));
        }
        out.flush();
        return ExitCode.OK;
    }

    private static void print(Backend engine, PrintWriter out) {
        out.println(engine.name());
        for (ModelFormat format : engine.formats()) {
            List<String> platforms = format.platforms();
            out.println("  file " + format.fileName()
                    + (platforms.isEmpty() ? "" : ", platform " + String.join(" or ", platforms)));
        }
        engine.options()
                .forEach(option -> out.println(
                        "  --backend-config=" + engine.name() + "," + option.name() + "=...  " + option.description()));
        engine.libraries().forEach(library -> out.println("  gatun install " + library));
    }
}
