// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.EngineStatistics;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelVersion;
import gatun.runtime.ModelVersion.LearnedChoice;
import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import gatun.runtime.statistics.ModelCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The families of a server's models, buffers and engines. Reserves the heap that the models' counters and labels need
 * meanwhile. Thread-safe.
 *
 * <p>A version's labels are its name, its number, its namespace if it has one, and one for each of its configuration's
 * {@code metric_tags}, with {@code _} in front of the tag's name, as in Triton.
 */
public final class RuntimeMetrics implements MetricSource {
    /** Bytes of heap that a version needs while it is published: counters, labels, and what was learned of it. */
    private static final int VERSION_BYTE_SIZE = 4096;

    /** The characters that must not stand in the name of a label. */
    private static final Pattern FOREIGN = Pattern.compile("[^a-zA-Z0-9_]");

    /** The labels that every version has; most have no other. */
    private static final String[] PLAIN = {"model", "version"};

    private static final Measure<Long> RUNS =
            Measure.counter("gatun_runs", "Number of runs, by the thread that they were on", Long::doubleValue);

    private static final Measure<Boolean> WAY = Measure.gauge(
            "gatun_learned_way", "1 for the way in which runs are done, as trials have shown", way -> way ? 1 : 0);

    private static final Measure<Double> GAIN = Measure.gauge(
            "gatun_learned_gain_ratio",
            "What the usual way costs, divided by what the best other way costs, in the last trials",
            Double::doubleValue);

    private final InferenceServer server;
    private final LatencyMetrics shown;

    /** The families of {@code server}, with durations in the forms that {@code shown} names. */
    public RuntimeMetrics(InferenceServer server, LatencyMetrics shown) {
        this.server = server;
        this.shown = shown;
    }

    /**
     * Gives {@code sink} the present values.
     *
     * @throws GatunException UNAVAILABLE before the first family when others have taken the heap that it needs
     */
    @Override
    public void publish(MetricSink sink) {
        List<ModelStatistics> statistics = server.statistics();
        Hold held = server.heap().reserve((long) statistics.size() * VERSION_BYTE_SIZE);
        try {
            MetricRows<ModelStatistics> models =
                    MetricRows.of(statistics, model -> labels(model.model(), model.version()));
            ModelCounters.publish(
                    models,
                    shown,
                    () -> MetricRows.of(server.latencies(), model -> labels(model.model(), model.version())),
                    sink);
            publishTuning(models, sink);
        } finally {
            held.close();
        }
        server.buffers().publish(sink);
        EngineStatistics.publish(server.engines(), sink);
        server.modelMetrics().publish(sink);
        server.modelMemory().ifPresent(use -> use.publish(sink));
    }

    /** Where the runs of {@code models} were, and what they have taught; versions that have just gone are left out. */
    private void publishTuning(MetricRows<ModelStatistics> models, MetricSink sink) {
        List<MetricRows.Row<Long>> runs = new ArrayList<>();
        List<MetricRows.Row<Boolean>> ways = new ArrayList<>();
        List<MetricRows.Row<Double>> gains = new ArrayList<>();
        for (MetricRows.Row<ModelStatistics> row : models) {
            version(row.subject().model(), row.subject().version()).ifPresent(model -> {
                RunCounts counts = model.runCounts();
                runs.add(new MetricRows.Row<>(row.labels().with("thread", "instance"), counts.onInstanceThreads()));
                runs.add(new MetricRows.Row<>(row.labels().with("thread", "request"), counts.onRequestThreads()));
                for (LearnedChoice choice : model.learned()) {
                    Labels labels =
                            row.labels().with("subject", choice.subject().word());
                    gains.add(new MetricRows.Row<>(labels, choice.gain()));
                    for (int way = 0; way < choice.ways().size(); way++) {
                        ways.add(new MetricRows.Row<>(
                                labels.with("way", choice.ways().get(way)), way == choice.way()));
                    }
                }
            });
        }
        sink.add(RUNS, MetricRows.of(runs));
        sink.add(WAY, MetricRows.of(ways));
        sink.add(GAIN, MetricRows.of(gains));
    }

    private Optional<ModelVersion> version(ModelIdentifier model, String version) {
        try {
            return Optional.of(server.model(model, version));
        } catch (GatunException gone) {
            return Optional.empty();
        }
    }

    /** The labels of a version that is ready, or was a moment ago: then without its tags. */
    private Labels labels(ModelIdentifier model, String version) {
        Map<String, String> tags = version(model, version)
                .map(found -> found.config().getMetricTagsMap())
                .orElse(Map.of());
        if (tags.isEmpty() && model.namespace().isEmpty()) {
            return Labels.of(PLAIN, model.name(), version);
        }
        Map<String, String> labels = new TreeMap<>();
        labels.put("model", model.name());
        labels.put("version", version);
        if (!model.namespace().isEmpty()) {
            labels.put("namespace", model.namespace());
        }
        // In the order of their names, so that of two tags which differ in foreign characters only, it is always the
        // same one that is shown.
        new TreeMap<>(tags).forEach((tag, value) -> labels.putIfAbsent(label(tag), value));
        return Labels.of(labels);
    }

    /** Names that begin with two of {@code _} are Prometheus' own. */
    private static String label(String tag) {
        int begin = 0;
        while (begin < tag.length() && tag.charAt(begin) == '_') {
            begin++;
        }
        return "_" + FOREIGN.matcher(tag.substring(begin)).replaceAll("_");
    }
}
