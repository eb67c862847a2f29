// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricSink;
import gatun.runtime.server.ServerObservation;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Metrics of worker processes, by model. {@link #look} is for one thread; any may read the result. */
final class WorkerUse {
    private static final String RESTARTS = "gatun_worker_restarts";
    private static final String RESIDENT = "gatun_worker_resident_bytes";
    private static final String MODEL = "model";

    /** For how many looks restarts are told of. */
    private static final int RESTART_LOOKS = 6;

    private final ServerObservation server;
    private Map<String, Long> restartsBefore = Map.of();
    private boolean looked;

    /** The restarts that are reported, and for how many more looks. Used by the looking thread only. */
    private final Map<String, Lately> lately = new TreeMap<>();

    private volatile Map<String, Long> restartedLately = Map.of();

    private record Lately(long restarts, int looks) {}

    WorkerUse(ServerObservation server) {
        this.server = server;
    }

    /** Takes note of the restarts since the last look. */
    void look() {
        Map<String, Long> restarts = sums(RESTARTS);
        lately.replaceAll((model, told) -> new Lately(told.restarts(), told.looks() - 1));
        lately.values().removeIf(told -> told.looks() <= 0);
        restarts.forEach((model, count) -> {
            long more = count - restartsBefore.getOrDefault(model, looked ? 0 : count);
            if (more > 0) {
                lately.merge(
                        model,
                        new Lately(more, RESTART_LOOKS),
                        (told, now) -> new Lately(told.restarts() + now.restarts(), RESTART_LOOKS));
            }
        });
        restartsBefore = restarts;
        looked = true;
        restartedLately = lately.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, told -> told.getValue().restarts()));
    }

    /** How often processes of each model were started again lately; without models whose were not. */
    Map<String, Long> restartedLately() {
        return restartedLately;
    }

    /** The resident memory of the processes of each model that has some, in bytes. For any thread. */
    Map<String, Long> residentBytes() {
        return sums(RESIDENT);
    }

    private Map<String, Long> sums(String family) {
        Map<String, Long> sums = new TreeMap<>();
        server.modelMetrics().publish(new ModelSums(family, sums));
        return sums;
    }

    /** Sums up the values of one family of counters or gauges by model. */
    private static final class ModelSums implements MetricSink {
        private final String wanted;
        private final Map<String, Long> sums;
        private boolean inFamily;

        ModelSums(String wanted, Map<String, Long> sums) {
            this.wanted = wanted;
            this.sums = sums;
        }

        @Override
        public void begin(MetricFamily family) {
            inFamily = family.name().equals(wanted);
        }

        @Override
        public void value(Labels labels, double value) {
            if (inFamily) {
                labels.value(MODEL).ifPresent(model -> sums.merge(model, (long) value, Long::sum));
            }
        }

        @Override
        public void info(Labels labels) {}

        @Override
        public void summary(Labels labels, List<Double> quantiles, double[] values, long count, double sum) {}

        @Override
        public void histogram(Labels labels, List<Double> bounds, long[] counts, double sum) {}
    }
}
