// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.runtime.metrics.MetricRegistry;
import gatun.runtime.metrics.ShownMetrics;
import gatun.spi.ModelMetrics;
import gatun.spi.ModelMetrics.Kind;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Metrics that models and backends make, on the page of the server's own. */
class ModelMadeFamiliesTest {
    private static final String OPEN_METRICS = "application/openmetrics-text";

    private final MetricRegistry registry = new MetricRegistry();

    private ModelMetrics.Metric metric(String name, Kind kind, Map<String, String> labels, Double... buckets) {
        return registry.family(name, "What " + name + " is", kind).metric(labels, List.of(buckets));
    }

    private String page(String accept) {
        try (CountedServer server = new CountedServer().withModelMetrics(registry)) {
            return PageText.of(
                    new MetricsPage(
                            server, ShownMetrics.STANDARD, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD)),
                    accept);
        }
    }

    /** The lines about metrics whose names begin with {@code prefix}. */
    private List<String> lines(String accept, String prefix) {
        return page(accept)
                .lines()
                .filter(line -> line.startsWith(prefix)
                        || line.startsWith("# TYPE " + prefix)
                        || line.startsWith("# HELP " + prefix))
                .toList();
    }

    @Test
    void shouldShowACounterUnderItsOwnName() {
        metric("my_calls", Kind.COUNTER, Map.of("model", "m", "version", "1")).increment(3);
        metric("my_calls", Kind.COUNTER, Map.of("model", "other")).increment(0.5);
        assertThat(lines("", "my_"))
                .containsExactly(
                        "# HELP my_calls What my_calls is",
                        "# TYPE my_calls counter",
                        "my_calls{model=\"other\"} 0.5",
                        "my_calls{model=\"m\",version=\"1\"} 3");
    }

    @Test
    void shouldShowAGauge() {
        metric("my_depth", Kind.GAUGE, Map.of()).set(-1.5);
        metric("my_free:bytes", Kind.GAUGE, Map.of("pool", "a \"b\"\\\n")).set(1L << 40);
        assertThat(lines("", "my_"))
                .containsExactly(
                        "# HELP my_depth What my_depth is",
                        "# TYPE my_depth gauge",
                        "my_depth -1.5",
                        "# HELP my_free:bytes What my_free:bytes is",
                        "# TYPE my_free:bytes gauge",
                        "my_free:bytes{pool=\"a \\\"b\\\"\\\\\\n\"} 1099511627776");
    }

    @Test
    void shouldShowAHistogramWithSumsOfItsBuckets() {
        ModelMetrics.Metric histogram = metric("my_seconds", Kind.HISTOGRAM, Map.of("model", "m"), 0.5, 1.0, 10.0);
        for (double value : new double[] {0.25, 0.75, 1, 20, 30}) {
            histogram.observe(value);
        }
        assertThat(lines("", "my_"))
                .containsExactly(
                        "# HELP my_seconds What my_seconds is",
                        "# TYPE my_seconds histogram",
                        "my_seconds_bucket{model=\"m\",le=\"0.5\"} 1",
                        "my_seconds_bucket{model=\"m\",le=\"1\"} 3",
                        "my_seconds_bucket{model=\"m\",le=\"10\"} 3",
                        "my_seconds_bucket{model=\"m\",le=\"+Inf\"} 5",
                        "my_seconds_count{model=\"m\"} 5",
                        "my_seconds_sum{model=\"m\"} 52");
    }

    @Test
    void shouldShowThemInOpenMetrics() {
        metric("my_calls", Kind.COUNTER, Map.of("model", "m")).increment(3);
        metric("my_depth", Kind.GAUGE, Map.of()).set(2);
        metric("my_seconds", Kind.HISTOGRAM, Map.of(), 1.0).observe(0.5);
        assertThat(lines(OPEN_METRICS, "my_"))
                .contains(
                        "# TYPE my_calls counter",
                        "my_calls_total{model=\"m\"} 3.0",
                        "# TYPE my_depth gauge",
                        "my_depth 2.0",
                        "# TYPE my_seconds histogram",
                        "my_seconds_bucket{le=\"1.0\"} 1",
                        "my_seconds_count 1",
                        "my_seconds_sum 0.5");
        assertThat(page(OPEN_METRICS)).endsWith("# EOF\n");
    }

    /** Names that end as those do that Prometheus makes itself are common among models' own. */
    @Test
    void shouldShowMetricsWhateverTheirNamesEndWith() {
        for (String end : List.of("total", "created", "bucket", "info", "count", "sum")) {
            metric("my_c_" + end, Kind.COUNTER, Map.of()).increment(1);
            metric("my_g_" + end, Kind.GAUGE, Map.of()).set(2);
            metric("my_h_" + end, Kind.HISTOGRAM, Map.of(), 1.0).observe(3);
            assertThat(lines("", "my_")).contains("my_c_" + end + " 1", "my_g_" + end + " 2", "my_h_" + end + "_sum 3");
            assertThat(lines(OPEN_METRICS, "my_")).as("in OpenMetrics").isNotEmpty();
        }
        metric("_total", Kind.COUNTER, Map.of()).increment(1);
        assertThat(page("")).contains("\n_total 1\n");
        assertThat(page(OPEN_METRICS)).contains("# TYPE _total counter\n", "\n_total_total 1.0\n");
    }

    @Test
    void shouldShowLabelsThatMeanSomethingForOtherKinds() {
        metric("my_histogram", Kind.HISTOGRAM, Map.of("quantile", "x"), 1.0).observe(3);
        metric("my_gauge", Kind.GAUGE, Map.of("quantile", "x", "le", "y")).set(2);
        assertThat(lines("", "my_"))
                .contains("my_gauge{le=\"y\",quantile=\"x\"} 2", "my_histogram_count{quantile=\"x\"} 1");
    }

    @Test
    void shouldShowALabelAsItIsThatIsNamedAsTheBoundOfABucket() {
        metric("my_gauge", Kind.GAUGE, Map.of("host", "h", "le", "v1.0")).set(2);
        metric("my_calls", Kind.COUNTER, Map.of("host", "h", "le", "1.0")).increment(3);
        assertThat(lines("", "my_"))
                .contains("my_gauge{host=\"h\",le=\"v1.0\"} 2", "my_calls{host=\"h\",le=\"1.0\"} 3");
    }

    @Test
    void shouldShowNothingOfFamiliesThatAreClosed() {
        ModelMetrics.Family family = registry.family("my_depth", "", Kind.GAUGE);
        ModelMetrics.Metric metric = family.metric(Map.of(), List.of());
        family.close();
        assertThat(lines("", "my_")).as("without a description").containsExactly("# TYPE my_depth gauge", "my_depth 0");
        metric.close();
        assertThat(lines("", "my_")).isEmpty();
    }
}
