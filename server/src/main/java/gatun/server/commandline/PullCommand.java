// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.memory.tensor.IoFailure;
import gatun.server.settings.ServedModelSettings.StoreSettings;
import gatun.stores.location.ArchiveLocation;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import gatun.stores.mirror.Mirrors;
import gatun.stores.mirror.Mirrors.Fetching;
import gatun.stores.mirror.TerminalProgress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gatun pull}: fetches a repository or a model from an object store, or an archive. */
@Command(
        name = "pull",
        description = {
            "Fetches a model repository, or one model, into a folder.",
            "",
            "From Amazon S3 and what speaks its protocol (s3://BUCKET/PATH, s3://https://HOST:PORT/BUCKET/PATH), Google"
                    + " Cloud Storage (gs://BUCKET/PATH), Azure Blob Storage (as://ACCOUNT/CONTAINER/PATH), or from an"
                    + " archive (https://HOST/FILE.tar.gz, .tgz, .tar or .zip; file:///FILE). Credentials come from the"
                    + " environment. The folder is there with all files, or not at all. Exits with 0 when it is, with 1"
                    + " when it could not be fetched."
        },
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class PullCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "URL", description = "What to fetch.")
    String url = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DIR",
            description =
                    "The folder that gets it, which is not there or empty; the last part of the URL unless this is"
                            + " given.")
    Optional<Path> folder = Optional.empty();

    @Option(
            names = "--store-timeout-secs",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "How long a store may take to answer, or to send any 16 KiB of a file (default:"
                    + " ${DEFAULT-VALUE}).")
    int timeoutSeconds;

    @Option(
            names = "--store-connections",
            paramLabel = "N",
            defaultValue = "8",
            description = "How many files are fetched at a time (default: ${DEFAULT-VALUE}).")
    int connections;

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        RepositoryLocation location;
        try {
            location = RepositoryLocation.parse(url);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        }
        if (timeoutSeconds < 1 || connections < 1 || connections > 1024) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--store-timeout-secs is a number from 1 up, and --store-connections one from 1 to 1024");
        }
        Path target = folder.orElseGet(() -> Path.of(
                switch (location) {
                    case StoreLocation store -> store.name();
                    case ArchiveLocation archive -> archive.name();
                }));
        Fetching fetching = new Fetching(
                Duration.ofSeconds(timeoutSeconds), connections, TerminalProgress.ofTerminal(), System.getenv());
        try {
            Mirrors.pull(location, target, fetching, StoreSettings.STANDARD.cacheByteSize());
        } catch (IOException e) {
            spec.commandLine().getErr().println("gatun: " + IoFailure.describe(e));
            spec.commandLine().getErr().flush();
            return ExitCode.SOFTWARE;
        }
        spec.commandLine().getOut().println("Fetched " + location.text() + " into " + target);
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }
}
