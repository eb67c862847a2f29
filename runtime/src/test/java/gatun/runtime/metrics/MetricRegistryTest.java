// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ModelMetrics.Family;
import gatun.spi.ModelMetrics.Kind;
import gatun.spi.ModelMetrics.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MetricRegistryTest {
    private static final Map<String, String> LABELS = Map.of("model", "m");

    private static final String SHOWN = "{model=\"m\"}";

    private final MetricRegistry registry = new MetricRegistry();

    private Metric metric(String name, Kind kind, Double... buckets) {
        return registry.family(name, "What it means", kind).metric(LABELS, List.of(buckets));
    }

    private static void assertRefused(ErrorCode code, String message, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }

    private static void assertWrong(String message, ThrowingCallable call) {
        assertRefused(ErrorCode.INVALID_ARGUMENT, message, call);
    }

    private List<String> names() {
        return MetricLines.of(registry).stream()
                .filter(line -> line.startsWith("# "))
                .map(line -> line.replaceAll("# \\w+ (.*):.*", "$1"))
                .toList();
    }

    @Test
    void shouldReadEachFamilyThatHasMetricsByItsName() {
        metric("b_seconds", Kind.HISTOGRAM, 1.0).observe(0.25);
        metric("c_total", Kind.COUNTER).increment(2.5);
        metric("a:b", Kind.GAUGE).set(-3);
        registry.family("none", "Without metrics", Kind.GAUGE);

        assertThat(MetricLines.of(registry))
                .containsExactly(
                        "# gauge a:b: What it means",
                        "a:b" + SHOWN + " -3.0",
                        "# histogram b_seconds: What it means",
                        "b_seconds" + SHOWN + " [1.0] [1, 1] 0.25",
                        "# counter c_total: What it means",
                        "c_total" + SHOWN + " 2.5");
    }

    @Test
    void shouldAddToACounterWhatIsNotNegative() {
        Metric counter = metric("c", Kind.COUNTER);
        counter.increment(0);
        counter.increment(1.5);
        counter.increment(2);
        assertThat(counter.value()).isEqualTo(3.5);
        assertWrong(
                "a counter cannot be incremented by -1.0: expected a number from 0 up", () -> counter.increment(-1));
        assertWrong(
                "a counter cannot be incremented by NaN: expected a number from 0 up",
                () -> counter.increment(Double.NaN));
        assertThat(counter.value()).isEqualTo(3.5);
    }

    @Test
    void shouldSetAGaugeAndMoveItUpAndDown() {
        Metric gauge = metric("g", Kind.GAUGE);
        assertThat(gauge.value()).isZero();
        gauge.set(10);
        gauge.increment(-12.5);
        assertThat(gauge.value()).isEqualTo(-2.5);
    }

    @Test
    void shouldCountWhatAHistogramObservesByItsBuckets() {
        Metric histogram = metric("h", Kind.HISTOGRAM, 0.1, 1.0, 10.0);
        for (double value : new double[] {-5, 0.1, 0.100001, 1, 5, 10, 10.5, 1000}) {
            histogram.observe(value);
        }
        double sum = -5 + 0.1 + 0.100001 + 1 + 5 + 10 + 10.5 + 1000;
        assertThat(MetricLines.of(registry).getLast())
                .as("each with those below")
                .endsWith(" [0.1, 1.0, 10.0] [2, 4, 6, 8] " + sum);
    }

    @Test
    void shouldRefuseWhatAKindCannotDo() {
        Metric counter = metric("c", Kind.COUNTER);
        Metric gauge = metric("g", Kind.GAUGE);
        Metric histogram = metric("h", Kind.HISTOGRAM, 1.0);
        assertRefused(ErrorCode.UNSUPPORTED, "a metric of kind counter cannot be set", () -> counter.set(1));
        assertRefused(ErrorCode.UNSUPPORTED, "a metric of kind counter cannot be observed", () -> counter.observe(1));
        assertRefused(ErrorCode.UNSUPPORTED, "a metric of kind gauge cannot be observed", () -> gauge.observe(1));
        assertRefused(
                ErrorCode.UNSUPPORTED,
                "a metric of kind histogram cannot be incremented",
                () -> histogram.increment(1));
        assertRefused(ErrorCode.UNSUPPORTED, "a metric of kind histogram cannot be set", () -> histogram.set(1));
        assertRefused(
                ErrorCode.UNSUPPORTED, "a metric of kind histogram cannot be read as one value", histogram::value);
    }

    @Test
    void shouldShareAFamilyByItsNameAndAMetricByItsLabels() {
        Metric one = registry.family("f", "First", Kind.COUNTER).metric(Map.of("a", "1", "b", "2"), List.of());
        Metric same = registry.family("f", "Second", Kind.COUNTER).metric(Map.of("b", "2", "a", "1"), List.of());
        Metric other = registry.family("f", "Third", Kind.COUNTER).metric(Map.of("a", "2"), List.of());
        one.increment(1);
        same.increment(2);
        other.increment(4);

        assertThat(one.value()).isEqualTo(3);
        assertThat(same.value()).isEqualTo(3);
        assertThat(MetricLines.of(registry))
                .containsExactly("# counter f: First", "f{a=\"2\"} 4.0", "f{a=\"1\",b=\"2\"} 3.0");
    }

    @Test
    void shouldForgetAMetricWhenAllWhoAskedForItHaveClosedIt() {
        Family family = registry.family("f", "", Kind.COUNTER);
        Metric one = family.metric(LABELS, List.of());
        Metric same = family.metric(LABELS, List.of());
        one.increment(5);

        one.close();
        one.close();
        assertThat(same.value()).isEqualTo(5);
        assertThat(names()).containsExactly("f");
        same.close();
        assertThat(names()).isEmpty();
        assertThat(family.metric(LABELS, List.of()).value()).as("a new one").isZero();
    }

    @Test
    void shouldForgetAFamilyWhenItAndItsMetricsAreClosed() {
        Family family = registry.family("f", "First", Kind.COUNTER);
        Family same = registry.family("f", "Second", Kind.COUNTER);
        Metric metric = family.metric(LABELS, List.of());
        family.close();
        family.close();
        same.close();
        assertWrong(
                "metric 'f' is of kind counter already, and cannot be of kind gauge too",
                () -> registry.family("f", "", Kind.GAUGE));
        metric.increment(1);
        assertThat(names()).as("a metric keeps its family").containsExactly("f");

        metric.close();
        assertThat(names()).isEmpty();
        registry.family("f", "Anew", Kind.GAUGE).metric(LABELS, List.of());
        assertThat(MetricLines.of(registry)).containsExactly("# gauge f: Anew", "f" + SHOWN + " 0.0");
    }

    @Test
    void shouldRefuseNamesThatAPageCannotShow() {
        for (String name : List.of("", "1a", "a b", "a-b", "a.b", "é", "a\n", "a{b}")) {
            assertWrong(
                    "'" + name + "' is no name of a metric: expected letters, digits, '_' and ':', and no digit first",
                    () -> registry.family(name, "", Kind.COUNTER));
        }
        Family family = registry.family("_a:1", "", Kind.COUNTER);
        for (String label : List.of("", "1a", "a b", "a-b", "a:b", "__a", "é", "a\n")) {
            assertWrong(
                    "'" + label
                            + "' is no name of a label: expected letters, digits and '_', no digit first, and no '__'",
                    () -> family.metric(Map.of("good", "", label, ""), List.of()));
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldRefuseTheLabelOfBucketsForHistogramsOnly() {
        Family histogram = registry.family("h", "", Kind.HISTOGRAM);
        assertWrong(
                "'le' is no name of a label of a histogram, whose buckets have their bounds there: choose another",
                () -> histogram.metric(Map.of("le", "1"), List.of(1.0)));
        registry.family("g", "", Kind.GAUGE).metric(Map.of("le", "1"), List.of());
        assertThat(names()).containsExactly("g");
    }

    @Test
    void shouldRefuseBucketsThatDoNotRise() {
        Family histogram = registry.family("h", "", Kind.HISTOGRAM);
        for (List<Double> buckets : List.of(
                List.of(1.0, 1.0),
                List.of(2.0, 1.0),
                List.of(Double.NaN),
                List.of(1.0, Double.POSITIVE_INFINITY),
                List.of(Double.NEGATIVE_INFINITY, 1.0))) {
            assertWrong(
                    "The buckets " + buckets + " of a histogram do not rise, or are not finite",
                    () -> histogram.metric(LABELS, buckets));
        }
        Family counter = registry.family("c", "", Kind.COUNTER);
        assertWrong("Unexpected buckets found: only a histogram has them", () -> counter.metric(LABELS, List.of(1.0)));
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldLimitTheFamiliesAndTheMetricsOfEach() {
        Family last = registry.family("f0", "", Kind.COUNTER);
        for (int i = 1; i < MetricRegistry.LIMIT; i++) {
            last = registry.family("f" + i, "", Kind.COUNTER);
        }
        assertWrong(
                "models have made 1024 families of metrics, which is the limit; close those that are done with",
                () -> registry.family("one_more", "", Kind.COUNTER));
        Metric first = last.metric(Map.of("n", "0"), List.of());
        for (int i = 1; i < MetricRegistry.LIMIT; i++) {
            last.metric(Map.of("n", Integer.toString(i)), List.of());
        }
        Family full = last;
        assertWrong(
                "models have made 1024 metrics of family 'f1023', which is the limit; close those that are done with",
                () -> full.metric(Map.of("n", "one more"), List.of()));
        full.metric(Map.of("n", "0"), List.of()).close();
        first.close();
        full.metric(Map.of("n", "one more"), List.of()).increment(1);
        registry.family("f5", "", Kind.COUNTER).metric(LABELS, List.of()).increment(1);
        assertThat(names()).containsExactly("f1023", "f5");
    }

    @Test
    void shouldLoseNothingThatThreadsAddAtATime() throws Exception {
        List<Future<?>> adding = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int t = 0; t < 4; t++) {
                adding.add(threads.submit(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        metric("c", Kind.COUNTER).increment(1);
                        metric("h", Kind.HISTOGRAM, 0.5).observe(i % 2);
                    }
                }));
            }
            for (Future<?> one : adding) {
                one.get(30, TimeUnit.SECONDS);
            }
        }
        assertThat(metric("c", Kind.COUNTER).value()).isEqualTo(8_000);
        assertThat(MetricLines.of(registry).getLast()).endsWith(" [0.5] [4000, 8000] 4000.0");
    }
}
