// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.RepositoryModel;
import gatun.server.text.SafeText;
import gatun.server.text.TextTable;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.StatisticDuration;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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

    @Mixin
    RemoteServerFlags server = new RemoteServerFlags();

    @Option(names = "--ready", description = "List only what answers now.")
    boolean onlyReady;

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (GatunClient client = server.connect(spec.commandLine())) {
            out.print(ModelListing.of(client, onlyReady, TextTable.fitted()));
            out.flush();
            return 0;
        } catch (ClientException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("gatun: " + server.describe(e));
            err.flush();
            return UNREACHABLE;
        }
    }

    /** The table of the models of a server. */
    private static final class ModelListing {
        private static final List<String> TITLES =
                List.of("Model", "Version", "Engine", "State", "Served", "Failed", "Average");
        private static final Set<Integer> NUMBERS = Set.of(4, 5, 6);
        private static final String NOTHING = "-";
        private static final int NAME_LIMIT = 256;
        private static final int REASON_LIMIT = 4096;

        private ModelListing() {}

        /** A table of the models, and why some are not ready. Throws {@link ClientException}. */
        static String of(GatunClient client, boolean onlyReady, TextTable table) {
            List<RepositoryModel> models = client.models().index(onlyReady);
            if (models.isEmpty()) {
                return onlyReady ? "No model is ready.\n" : "No models.\n";
            }
            List<List<String>> rows = new ArrayList<>();
            StringBuilder reasons = new StringBuilder();
            for (RepositoryModel model : models) {
                rows.add(row(client, model));
                if (!model.reason().isEmpty()) {
                    String version = model.version().isEmpty() ? "" : " version " + model.version();
                    reasons.append(SafeText.of(model.name() + version, NAME_LIMIT))
                            .append(": ");
                    reasons.append(model.reason()
                                    .strip()
                                    .lines()
                                    .map(line -> SafeText.of(line, REASON_LIMIT))
                                    .collect(Collectors.joining("\n    ")))
                            .append('\n');
                }
            }
            return table.render(TITLES, NUMBERS, rows) + reasons;
        }

        private static List<String> row(GatunClient client, RepositoryModel model) {
            Optional<ModelStatistics> statistics = model.isReady() ? statistics(client, model) : Optional.empty();
            return List.of(
                    SafeText.of(model.name(), NAME_LIMIT),
                    model.version().isEmpty() ? NOTHING : SafeText.of(model.version(), NAME_LIMIT),
                    model.isReady() ? SafeText.of(engine(client, model), NAME_LIMIT) : NOTHING,
                    model.state().isEmpty()
                            ? "not loaded"
                            : SafeText.of(model.state(), NAME_LIMIT).toLowerCase(Locale.ROOT),
                    statistics
                            .map(counted -> Long.toString(
                                    counted.getInferenceStats().getSuccess().getCount()))
                            .orElse(NOTHING),
                    statistics
                            .map(counted -> Long.toString(
                                    counted.getInferenceStats().getFail().getCount()))
                            .orElse(NOTHING),
                    statistics
                            .map(counted -> average(counted.getInferenceStats().getSuccess()))
                            .orElse(NOTHING));
        }

        /** The backend, or the platform of a model that has none, such as an ensemble. */
        private static String engine(GatunClient client, RepositoryModel model) {
            try {
                ModelConfig config = client.models().config(model.name(), model.version());
                if (!config.getBackend().isEmpty()) {
                    return config.getBackend();
                }
                return config.getPlatform().isEmpty() ? NOTHING : config.getPlatform();
            } catch (ClientException e) {
                return platform(client, model); // Not every server of the protocol has configurations.
            }
        }

        private static String platform(GatunClient client, RepositoryModel model) {
            try {
                return client.models().metadata(model.name(), model.version()).platform();
            } catch (ClientException e) {
                return NOTHING; // It has been unloaded since, or this server does not say.
            }
        }

        private static Optional<ModelStatistics> statistics(GatunClient client, RepositoryModel model) {
            try {
                return client.models().statistics(model.name(), model.version()).stream()
                        .findFirst();
            } catch (ClientException e) {
                return Optional.empty(); // Not every server of the protocol counts.
            }
        }

        private static String average(StatisticDuration total) {
            if (total.getCount() == 0) {
                return NOTHING;
            }
            double micros = (double) total.getNs() / total.getCount() / 1000;
            return micros < 10_000
                    ? String.format(Locale.ROOT, "%.0f us", micros)
                    : String.format(Locale.ROOT, "%.1f ms", micros / 1000);
        }
    }
}
