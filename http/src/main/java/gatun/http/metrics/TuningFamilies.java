// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelVersion;
import gatun.runtime.ModelVersion.LearnedChoice;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.server.InferenceServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The families of where a version's runs are, and of what they have taught. */
final class TuningFamilies {
    private static final Measure<Long> RUNS =
            Measure.counter("gatun_runs", "Number of runs, by the thread that they were on", Long::doubleValue);

    private static final Measure<Boolean> WAY = Measure.gauge(
            "gatun_learned_way", "1 for the way in which runs are done, as trials have shown", way -> way ? 1 : 0);

    private static final Measure<Double> GAIN = Measure.gauge(
            "gatun_learned_gain_ratio",
            "What the usual way costs, divided by what the best other way costs, in the last trials",
            Double::doubleValue);

    private TuningFamilies() {}

    /** Writes what {@code server} tells of the versions of {@code models}; those that have just gone are left out. */
    static void write(Rows<ModelStatistics> models, InferenceServer server, PageWriter page) {
        List<Rows.Row<Long>> runs = new ArrayList<>();
        List<Rows.Row<Boolean>> ways = new ArrayList<>();
        List<Rows.Row<Double>> gains = new ArrayList<>();
        for (Rows.Row<ModelStatistics> row : models) {
            version(row.subject(), server).ifPresent(model -> {
                RunCounts counts = model.runCounts();
                runs.add(new Rows.Row<>(row.labels().with("thread", "instance"), counts.onInstanceThreads()));
                runs.add(new Rows.Row<>(row.labels().with("thread", "request"), counts.onRequestThreads()));
                for (LearnedChoice choice : model.learned()) {
                    Labels labels =
                            row.labels().with("subject", choice.subject().word());
                    gains.add(new Rows.Row<>(labels, choice.gain()));
                    for (int way = 0; way < choice.ways().size(); way++) {
                        ways.add(new Rows.Row<>(labels.with("way", choice.ways().get(way)), way == choice.way()));
                    }
                }
            });
        }
        page.add(RUNS, Rows.of(runs));
        page.add(WAY, Rows.of(ways));
        page.add(GAIN, Rows.of(gains));
    }

    private static Optional<ModelVersion> version(ModelStatistics model, InferenceServer server) {
        try {
            return Optional.of(server.model(model.model(), model.version()));
        } catch (GatunException gone) {
            return Optional.empty();
        }
    }
}
