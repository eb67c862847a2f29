// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.ErrorCode;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** TensorFlow Serving's request counters, and its Prometheus text. Made if somebody reads it. Thread-safe. */
public final class ServingMetrics {
    /** The method that a request calls. */
    public enum Api {
        /** Outputs of tensors. */
        PREDICT("Predict"),
        /** Labels and scores of examples. */
        CLASSIFY("Classify"),
        /** A number for each example. */
        REGRESS("Regress"),
        /** Several of the latter two at once. */
        MULTI_INFERENCE("MultiInference");

        private final String title;

        Api(String title) {
            this.title = title;
        }
    }

    /** The protocol that a request came by. */
    public enum Entrypoint {
        /** By gRPC. */
        GRPC,
        /** Over HTTP; the methods are written in lower case there. */
        REST
    }

    private static final String REQUEST_COUNT = ":tensorflow:serving:request_count";
    private static final String REQUEST_LATENCY = ":tensorflow:serving:request_latency";
    private static final String RUNTIME_LATENCY = ":tensorflow:serving:runtime_latency";
    private static final String EXAMPLE_COUNTS = ":tensorflow:serving:request_example_counts";
    private static final String EXAMPLE_COUNT_TOTAL = ":tensorflow:serving:request_example_count_total";

    /** Clients choose the names of models; beyond so many they share one, or they could fill the memory. */
    private static final int MAX_MODELS = 1000;

    /** Longer names are those of no model; they share one for the same reason. */
    private static final int MAX_NAME_LENGTH = 256;

    private static final String OTHER_MODELS = "other";

    /** Upper bounds in microseconds: 10, and each 1.8 times the one before. */
    private static final double[] LATENCY_BOUNDS = bounds(10, 1.8, 33);

    private static final double[] EXAMPLE_BOUNDS = bounds(1, 2, 15);

    // By labels, as the page writes them.
    private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();
    private final Map<String, BoundedCounts> requestLatencies = new ConcurrentHashMap<>();
    private final Map<String, BoundedCounts> runtimeLatencies = new ConcurrentHashMap<>();
    private final Map<String, BoundedCounts> exampleCounts = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> exampleTotals = new ConcurrentHashMap<>();
    private final Set<String> models = ConcurrentHashMap.newKeySet();

    /** Nothing counted yet. */
    public ServingMetrics() {}

    private static double[] bounds(double first, double factor, int count) {
        double[] bounds = new double[count];
        double bound = first;
        for (int i = 0; i < count; i++) {
            bounds[i] = bound;
            bound *= factor;
        }
        return bounds;
    }

    /** Counts a request that was answered, {@code nanos} after it came. */
    public void answered(String model, Api api, Entrypoint entrypoint, long nanos) {
        count(model, "OK");
        String title = entrypoint == Entrypoint.REST ? api.title.toLowerCase(Locale.ROOT) : api.title;
        String labels = "model_name=\"" + label(model) + "\",API=\"" + title + "\",entrypoint=\"" + entrypoint + "\"";
        requestLatencies
                .computeIfAbsent(labels, key -> new BoundedCounts(LATENCY_BOUNDS))
                .add(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** Counts a request that failed. */
    public void failed(String model, ErrorCode code) {
        count(model, code == ErrorCode.UNSUPPORTED ? "UNIMPLEMENTED" : code.name());
    }

    /** Counts a request that failed, by the name of a canonical code. */
    public void failed(String model, String code) {
        count(model, code);
    }

    private void count(String model, String status) {
        requests.computeIfAbsent(
                        "model_name=\"" + label(model) + "\",status=\"" + status + "\"", key -> new LongAdder())
                .increment();
    }

    /** Counts a run of a model that took {@code nanos}. */
    public void recordRun(String model, Api api, long nanos) {
        String labels = "model_name=\"" + label(model) + "\",API=\"" + api.title + "\",runtime=\"TF1\"";
        runtimeLatencies
                .computeIfAbsent(labels, key -> new BoundedCounts(LATENCY_BOUNDS))
                .add(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** Counts the examples of a request. */
    public void examples(String model, long count) {
        String labels = "model=\"" + label(model) + "\"";
        exampleCounts
                .computeIfAbsent(labels, key -> new BoundedCounts(EXAMPLE_BOUNDS))
                .add(count);
        exampleTotals.computeIfAbsent(labels, key -> new LongAdder()).add(count);
    }

    private String label(String model) {
        if (!models.contains(model)) {
            if (models.size() >= MAX_MODELS || model.length() > MAX_NAME_LENGTH) {
                return OTHER_MODELS;
            }
            models.add(model);
        }
        return model.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /** The total of a counter, by TensorFlow's name such as {@code /tensorflow/serving/request_count}; 0 if unknown. */
    public long counted(String name) {
        Map<String, LongAdder> counter =
                switch (name.replace('/', ':')) {
                    case REQUEST_COUNT -> requests;
                    case EXAMPLE_COUNT_TOTAL -> exampleTotals;
                    default -> Map.of();
                };
        return counter.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** The page for Prometheus, in UTF-8. */
    public byte[] page() {
        StringBuilder page = new StringBuilder();
        write(page, REQUEST_COUNT, requests);
        writeHistogram(page, REQUEST_LATENCY, requestLatencies);
        writeHistogram(page, RUNTIME_LATENCY, runtimeLatencies);
        writeHistogram(page, EXAMPLE_COUNTS, exampleCounts);
        write(page, EXAMPLE_COUNT_TOTAL, exampleTotals);
        return page.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void write(StringBuilder page, String name, Map<String, LongAdder> counters) {
        page.append("# TYPE ").append(name).append(" counter\n");
        new TreeMap<>(counters).forEach((labels, value) -> page.append(name)
                .append('{')
                .append(labels)
                .append("} ")
                .append(value.sum())
                .append('\n'));
    }

    private static void writeHistogram(StringBuilder page, String name, Map<String, BoundedCounts> histograms) {
        page.append("# TYPE ").append(name).append(" histogram\n");
        new TreeMap<>(histograms).forEach((labels, histogram) -> {
            List<String> bounds = histogram.bounds();
            long[] counts = histogram.cumulative();
            for (int i = 0; i < counts.length; i++) {
                page.append(name).append("_bucket{").append(labels);
                page.append(",le=\"").append(bounds.get(i)).append("\"} ");
                page.append(counts[i]).append('\n');
            }
            page.append(name).append("_sum{").append(labels).append("} ");
            page.append(histogram.sum()).append('\n');
            page.append(name).append("_count{").append(labels).append("} ");
            page.append(counts[counts.length - 1]).append('\n');
        });
    }

    /** Counts numbers below some bounds, and their sum. Thread-safe; a read may lack a number just added. */
    static final class BoundedCounts {
        private static final MathContext SIX_DIGITS = new MathContext(6);
        private static final double SCIENTIFIC = 1e6;

        private final double[] bounds;

        /** By bound; the last is for values that are not below any. */
        private final LongAdder[] counts;

        private final LongAdder sum = new LongAdder();

        /** @param bounds ascending; kept */
        BoundedCounts(double[] bounds) {
            this.bounds = bounds;
            counts = new LongAdder[bounds.length + 1];
            Arrays.setAll(counts, bucket -> new LongAdder());
        }

        void add(long number) {
            int bucket = 0;
            while (bucket < bounds.length && number >= bounds[bucket]) {
                bucket++;
            }
            counts[bucket].increment();
            sum.add(number);
        }

        /** For each bound how many numbers are below, and at the end how many there are. */
        long[] cumulative() {
            long[] cumulative = new long[counts.length];
            long total = 0;
            for (int i = 0; i < cumulative.length; i++) {
                total += counts[i].sum();
                cumulative[i] = total;
            }
            return cumulative;
        }

        long sum() {
            return sum.sum();
        }

        /** The bounds with six digits, as C writes them, and {@code +Inf}. */
        List<String> bounds() {
            List<String> texts = new ArrayList<>();
            for (double bound : bounds) {
                BigDecimal rounded = new BigDecimal(bound).round(SIX_DIGITS).stripTrailingZeros();
                texts.add(bound < SCIENTIFIC ? rounded.toPlainString() : scientific(rounded));
            }
            texts.add("+Inf");
            return texts;
        }

        private static String scientific(BigDecimal number) {
            int exponent = number.precision() - number.scale() - 1;
            String digits = number.unscaledValue().toString();
            String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
            return digits.charAt(0) + fraction + (exponent < 10 ? "e+0" : "e+") + exponent;
        }
    }
}
