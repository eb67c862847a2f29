// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.CacheLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatistics.CacheStatistics;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.metrics.MetricRegistry;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import gatun.spi.ModelMetrics.Kind;
import gatun.spi.Tuning.Subject;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole page of fixed counters, byte for byte. Of what the machine counts, only the heads of families are compared. */
class WholePageTest {
    private static final ModelStatistics PLAIN = new ModelStatistics(
            "digits",
            "3",
            new ModelStatistics.Totals(
                    10,
                    25,
                    new ModelStatistics.Failures(1, 2, 3, 4, 0),
                    new ModelStatistics.StageNanos(9_000, 1_000, 2_000, 3_000, 4_500),
                    1_700_000_000_000L,
                    new ModelStatistics.Occupancy(5, 1),
                    1_500_000_000L),
            List.of(new BatchStatistics(1, 4, 500, 600, 700), new BatchStatistics(7, 3, 1_500, 2_400, 3_300)),
            List.of(),
            List.of(),
            Optional.empty());

    private static final Origin HTTP = new Origin(0, "v2", "http");
    private static final Origin GRPC = new Origin(1, "v2", "grpc");

    private static final ModelStatistics CACHED = new ModelStatistics(
            new ModelIdentifier("shelf", "apples"),
            "12",
            PLAIN.totals(),
            PLAIN.batches(),
            List.of(),
            List.of(),
            Optional.of(new CacheStatistics(4, 8_000, 6, 9_000)));

    /** A version with tags, of which one is named by characters that no label may have. */
    private static final class TaggedVersion implements ModelVersion {
        @Override
        public long version() {
            return 12;
        }

        @Override
        public String versionText() {
            return "12";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of();
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of();
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.newBuilder()
                    .putMetricTags("team", "fruit \"and\" more")
                    .putMetricTags("__cost-centre", "7")
                    .build();
        }

        @Override
        public List<LearnedChoice> learned() {
            return List.of(new LearnedChoice(Subject.BATCHES, List.of("sent", "kept"), 1, 1.25));
        }

        @Override
        public RunCounts runCounts() {
            return new RunCounts(11, 22);
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("12");
        }
    }

    private static final AccessLog LINES = new AccessLog() {
        @Override
        public boolean isOn() {
            return true;
        }

        @Override
        public boolean write(AccessEntry entry) {
            return false;
        }

        @Override
        public long writtenCount() {
            return 100;
        }

        @Override
        public long droppedCount() {
            return 2;
        }
    };

    /** As many durations as there are numbers, in microseconds. */
    private static Latencies micros(long... durations) {
        long[] counts = new long[LatencyBuckets.COUNT];
        long sum = 0;
        for (long micros : durations) {
            counts[LatencyBuckets.bucketOf(micros * 1000)]++;
            sum += micros * 1000;
        }
        return new Latencies(counts, sum);
    }

    private static ModelLatencies latencies(ModelStatistics model, Optional<CacheLatencies> cache) {
        StageLatencies http = new StageLatencies(
                micros(40, 150), micros(1, 2), micros(3), micros(4), micros(5), micros(50_000, 300_000));
        StageLatencies grpc =
                new StageLatencies(micros(700), micros(9), micros(8), micros(7), micros(6), micros(90_000));
        return new ModelLatencies(
                model.model(),
                model.version(),
                cache.isPresent(),
                cache.isPresent() ? Map.of(HTTP, http, GRPC, grpc) : Map.of(GRPC, grpc),
                cache,
                Map.of("nv_inference_first_response_histogram_ms", List.of(60.0, 1000.0)));
    }

    private static MetricRegistry ownMetrics() {
        MetricRegistry registry = new MetricRegistry();
        registry.family("my_calls", "Calls", Kind.COUNTER)
                .metric(Map.of("model", "m", "step", "b"), List.of())
                .increment(3);
        registry.family("my_calls", "Calls", Kind.COUNTER)
                .metric(Map.of("model", "m", "step", "a"), List.of())
                .increment(0.5);
        registry.family("my_depth", "", Kind.GAUGE).metric(Map.of(), List.of()).set(-2);
        registry.family("my_sizes", "Sizes", Kind.HISTOGRAM)
                .metric(Map.of("model", "m"), List.of(1.0, 2.5))
                .observe(2);
        return registry;
    }

    private static String page(String accept, boolean histograms) {
        ShownMetrics all = new ShownMetrics(
                new LatencyMetrics(true, true, histograms, List.of(0.5, 0.99)), Optional.of(Duration.ofSeconds(2)));
        try (CountedServer server = new CountedServer(CACHED, PLAIN)
                .withLatencies(
                        latencies(CACHED, Optional.of(new CacheLatencies(micros(7, 8), micros(9)))),
                        latencies(PLAIN, Optional.empty()))
                .withModelMetrics(ownMetrics())
                .withModelMemory(new ModelMemoryUse(1 << 30, 12_345, 2, 3, 1))
                .withAccessLog(LINES)
                .withVersion(new TaggedVersion())) {
            return PageText.of(
                    new MetricsPage(server, all, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD)), accept);
        }
    }

    /** Whether a line is the same on every machine. */
    private static boolean isFixed(String line) {
        return !line.startsWith("jvm_") && !line.startsWith("process_") && !line.startsWith("nv_cpu_");
    }

    @ParameterizedTest
    @CsvSource({"'', true, page.txt", "application/openmetrics-text, false, page.openmetrics"})
    void shouldWriteEveryFamilyInItsPlace(String accept, boolean histograms, String file) throws IOException {
        String expected;
        try (InputStream text = Objects.requireNonNull(WholePageTest.class.getResourceAsStream(file))) {
            expected = new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
        assertThat(page(accept, histograms)
                        .lines()
                        .filter(WholePageTest::isFixed)
                        .collect(Collectors.joining("\n", "", "\n")))
                .isEqualTo(expected);
    }
}
