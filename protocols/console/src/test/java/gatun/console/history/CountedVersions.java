// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.Origin;
import gatun.runtime.VersionCounters;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Versions that count what the test says. */
final class CountedVersions {
    final Map<String, Version> versions = new TreeMap<>();
    int counted;
    int measured;
    long computeNanos;
    ModelStatistics.Occupancy occupancy = ModelStatistics.Occupancy.NONE;

    void answer(String model, int requests, long nanos) {
        versions.computeIfAbsent(model, Version::new).answered[LatencyBuckets.bucketOf(nanos)] += requests;
    }

    void show(VersionCounters.Look look) {
        versions.forEach((model, version) -> look.accept(ModelIdentifier.of(model), "1", version));
    }

    final class Version implements VersionCounters {
        private final String model;
        private final long[] answered = new long[LatencyBuckets.COUNT];

        Version(String model) {
            this.model = model;
        }

        @Override
        public long activity() {
            return new Latencies(answered, 0).count();
        }

        @Override
        public boolean isBusy() {
            return !occupancy.equals(ModelStatistics.Occupancy.NONE);
        }

        @Override
        public ModelStatistics statistics() {
            counted++;
            long requests = activity();
            return new ModelStatistics(
                    model,
                    "1",
                    new ModelStatistics.Totals(
                            requests,
                            4 * requests,
                            new ModelStatistics.Failures(0, 0, 0, 0, 0),
                            new ModelStatistics.StageNanos(0, 0, 0, 0, 0),
                            0,
                            occupancy,
                            0),
                    requests == 0 ? List.of() : List.of(new BatchStatistics(4, requests, 0, computeNanos, 0)),
                    List.of(),
                    List.of(),
                    Optional.empty());
        }

        @Override
        public Optional<ModelLatencies> latencies() {
            measured++;
            Latencies latencies = new Latencies(answered, 0);
            StageLatencies stages =
                    new StageLatencies(latencies, latencies, latencies, latencies, latencies, Latencies.NONE);
            return Optional.of(new ModelLatencies(
                    model, "1", false, Map.of(new Origin(0, "v2", "http"), stages), Optional.empty(), Map.of()));
        }

        @Override
        public int instanceCount() {
            return 2;
        }
    }
}
