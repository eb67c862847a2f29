// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink.Measure;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The text of families, beside what Prometheus' own library writes about the same values. */
class PageWriterTest {
    private static final int ROUNDS = 300;

    private static final List<String> LABELS = List.of("model", "version", "namespace", "_tag", "le", "Zone", "a1");

    private static final List<String> TEXTS = List.of(
            "", "m", "m1", "m10", "10", "2", "a \"b\"\\\n", "\\n", "Größe 模型 \uD83D\uDE00", "\uD800", "x y,z=\"}");

    private static final double[] NUMBERS = {
        0,
        -0.0,
        1,
        -1,
        0.5,
        123.456,
        9_999_999,
        1e7,
        12_345_678,
        12_345_678.5,
        1e15,
        (double) (1L << 53),
        1e16,
        1e300,
        -1e300,
        1e-5,
        0.001,
        Double.MIN_VALUE,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY
    };

    private final Random random = new Random(7);

    /** What the library writes, without the end of the page. */
    private static String expected(ExpositionFormatWriter writer, MetricSnapshot snapshot) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            writer.write(text, new MetricSnapshots(snapshot));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString(StandardCharsets.UTF_8).replace("# EOF\n", "");
    }

    private static String openMetrics(MetricSnapshot snapshot) {
        return expected(OpenMetricsTextFormatWriter.create(), snapshot);
    }

    private static String plain(MetricSnapshot snapshot) {
        return expected(PrometheusTextFormatWriter.create(), snapshot);
    }

    /** Sets of labels, each once. */
    private List<Map<String, String>> labelSets() {
        Set<Map<String, String>> sets = new HashSet<>();
        int count = random.nextInt(12);
        for (int i = 0; i < count; i++) {
            Map<String, String> labels = new HashMap<>();
            for (int j = random.nextInt(4); j > 0; j--) {
                labels.put(LABELS.get(random.nextInt(LABELS.size())), TEXTS.get(random.nextInt(TEXTS.size())));
            }
            sets.add(labels);
        }
        return new ArrayList<>(sets);
    }

    private static io.prometheus.metrics.model.snapshots.Labels labels(Map<String, String> labels) {
        io.prometheus.metrics.model.snapshots.Labels.Builder builder =
                io.prometheus.metrics.model.snapshots.Labels.builder();
        labels.forEach(builder::label);
        return builder.build();
    }

    private double number() {
        return random.nextBoolean() ? NUMBERS[random.nextInt(NUMBERS.length)] : random.nextLong() / 1e6;
    }

    private String help() {
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }

    @Test
    void shouldWriteGaugesAsPrometheusDoesInItsOrder() {
        for (int round = 0; round < ROUNDS; round++) {
            String help = help();
            Map<Map<String, String>, Double> values =
                    labelSets().stream().collect(Collectors.toMap(set -> set, set -> number()));
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name("my_gauge").help(help);
            values.forEach((set, value) -> gauge.dataPoint(GaugeDataPointSnapshot.builder()
                    .labels(labels(set))
                    .value(value)
                    .build()));

            assertThat(PageText.of(
                            TextFormat.OPEN_METRICS,
                            page -> page.add(
                                    Measure.gauge("my_gauge", help, values::get),
                                    MetricRows.of(values.keySet(), Labels::of))))
                    .isEqualTo(openMetrics(gauge.build()));
        }
    }

    @Test
    void shouldWriteCountersAsPrometheusDoes() {
        for (int round = 0; round < ROUNDS; round++) {
            String help = help();
            double value = Math.abs(number());
            Map<String, String> set = Map.of("model", TEXTS.get(random.nextInt(TEXTS.size())));
            MetricSnapshot counter = CounterSnapshot.builder()
                    .name("my_calls")
                    .help(help)
                    .dataPoint(CounterDataPointSnapshot.builder()
                            .labels(labels(set))
                            .value(value)
                            .build())
                    .build();

            for (String name : List.of("my_calls", "my_calls_total")) {
                assertThat(PageText.of(
                                TextFormat.OPEN_METRICS,
                                page -> page.add(
                                        Measure.counter(name, help, ignored -> value),
                                        MetricRows.of(List.of(set), Labels::of))))
                        .isEqualTo(openMetrics(counter));
            }
        }
    }

    @Test
    void shouldWriteHistogramsAsPrometheusDoes() {
        for (int round = 0; round < ROUNDS; round++) {
            String help = help();
            List<Map<String, String>> sets = labelSets();
            // The library takes no second bound, which this one's place is.
            sets.forEach(set -> set.remove("le"));
            Set<Map<String, String>> distinct = new HashSet<>(sets);
            double sum = number();
            long below = random.nextInt(1000);
            long above = random.nextInt(1000);
            List<Double> bounds = List.of(-0.5, 50.0, 1e7, 2.5e9);
            HistogramSnapshot.Builder histogram =
                    HistogramSnapshot.builder().name("my_us").help(help);
            for (Map<String, String> set : distinct) {
                histogram.dataPoint(HistogramDataPointSnapshot.builder()
                        .labels(labels(set))
                        .classicHistogramBuckets(ClassicHistogramBuckets.builder()
                                .bucket(-0.5, 0)
                                .bucket(50, below)
                                .bucket(1e7, 0)
                                .bucket(2.5e9, 0)
                                .bucket(Double.POSITIVE_INFINITY, above)
                                .build())
                        .sum(sum)
                        .build());
            }

            assertThat(PageText.of(TextFormat.OPEN_METRICS, page -> {
                        page.begin(new MetricFamily("my_us", MetricFamily.Kind.HISTOGRAM, help));
                        for (MetricRows.Row<Map<String, String>> row : MetricRows.of(distinct, Labels::of)) {
                            page.histogram(
                                    row.labels(), bounds, new long[] {0, below, below, below, below + above}, sum);
                        }
                    }))
                    .isEqualTo(openMetrics(histogram.build()));
        }
    }

    @Test
    void shouldWriteSummariesAndInfosAsPrometheusDoes() {
        io.prometheus.metrics.model.snapshots.Labels model =
                io.prometheus.metrics.model.snapshots.Labels.of("model", "m\n");
        MetricSnapshot summary = SummarySnapshot.builder()
                .name("my_summary")
                .help("a \\ \"b\"")
                .dataPoint(SummaryDataPointSnapshot.builder()
                        .labels(model)
                        .count(12_345_678_901L)
                        .sum(1.5e8)
                        .quantiles(Quantiles.of(
                                List.of(new Quantile(0, 1), new Quantile(0.999, 2e7), new Quantile(1, Double.NaN))))
                        .build())
                .dataPoint(SummaryDataPointSnapshot.builder().count(0).sum(0).build())
                .build();
        MetricSnapshot info = InfoSnapshot.builder()
                .name("my_runtime")
                .help("What runs")
                .dataPoint(InfoDataPointSnapshot.builder().labels(model).build())
                .build();
        for (TextFormat format : TextFormat.values()) {
            boolean open = format == TextFormat.OPEN_METRICS;
            String summaryText = PageText.of(format, page -> {
                page.begin(new MetricFamily("my_summary", MetricFamily.Kind.SUMMARY, "a \\ \"b\""));
                page.summary(Labels.NONE, List.of(), new double[0], 0, 0);
                page.summary(
                        Labels.of("model", "m\n"),
                        List.of(0.0, 0.999, 1.0),
                        new double[] {1, 2e7, Double.NaN},
                        12_345_678_901L,
                        1.5e8);
            });
            String infoText = PageText.of(format, page -> {
                page.begin(new MetricFamily("my_runtime", MetricFamily.Kind.INFO, "What runs"));
                page.info(Labels.of("model", "m\n"));
            });
            assertThat(infoText).isEqualTo(open ? openMetrics(info) : plain(info));
            assertThat(summaryText)
                    .isEqualTo(
                            open
                                    ? openMetrics(summary)
                                    // As Triton writes them, whole numbers have no point.
                                    : plain(summary)
                                            .replaceAll("(?m) (\\d+)\\.0$", " $1")
                                            .replace(" 2.0E7", " 20000000")
                                            .replace(" 1.5E8", " 150000000"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-0.0, 0",
        "-3, -3",
        "1e7, 10000000",
        "9007199254740992, 9007199254740992",
        "1e16, 1.0E16",
        "12345678.5, 1.23456785E7",
        "0.25, 0.25",
        "1e-5, 1.0E-5",
        "NaN, NaN",
        "Infinity, +Inf",
        "-Infinity, -Inf"
    })
    void shouldWriteWholeNumbersAsTritonDoesInThePlainFormat(double value, String text) {
        assertThat(PageText.of(
                        TextFormat.PROMETHEUS,
                        page -> page.add(MetricFamily.counter("my_calls", "a \\ \"b\"\n"), value)))
                .isEqualTo("# HELP my_calls a \\\\ \"b\"\\n\n# TYPE my_calls counter\nmy_calls " + text + "\n");
    }

    @Test
    void shouldWriteNothingOfAFamilyWithoutLines() {
        assertThat(PageText.of(TextFormat.PROMETHEUS, page -> {
                    page.add(
                            Measure.gauge("my_gauge", "Nothing", Double::doubleValue),
                            MetricRows.of(new ArrayList<MetricRows.Row<Double>>()));
                    page.begin(MetricFamily.counter("my_calls", "Nothing"));
                    page.add(MetricFamily.gauge("my_depth", ""), 1);
                }))
                .isEqualTo("# TYPE my_depth gauge\nmy_depth 1\n");
    }
}
