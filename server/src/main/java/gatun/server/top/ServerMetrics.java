// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is shown of a page of metrics, Gatun's or Triton's, as far as it is there. Memory is in bytes; quantiles are
 * durations of requests in microseconds, by version and by quantile such as {@code 0.99}.
 */
record ServerMetrics(
        OptionalDouble memory,
        OptionalDouble buffers,
        List<Gpu> gpus,
        Map<Sample.Key, Double> queues,
        Map<Sample.Key, Map<String, Double>> quantiles) {
    /** A server without known metrics. */
    static final ServerMetrics NONE =
            new ServerMetrics(OptionalDouble.empty(), OptionalDouble.empty(), List.of(), Map.of(), Map.of());

    private static final int GPU_LIMIT = 16;
    private static final Pattern LINE = Pattern.compile("([a-zA-Z_:][\\w:]*)(?:\\{(.*)\\})? +([^ ]+).*");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** A GPU: how busy, from 0 to 1, and its memory in use. */
    record Gpu(double utilization, double usedBytes) {}

    /** Reads a page in the text format of Prometheus; lines that are something else are skipped. */
    static ServerMetrics parse(String page) {
        Parser parser = new Parser();
        page.lines().filter(line -> !line.startsWith("#")).forEach(parser::line);
        return parser.result();
    }

    /** The requests to a version that wait. */
    OptionalDouble queue(Sample.Key key) {
        return Optional.ofNullable(queues.get(key)).map(OptionalDouble::of).orElse(OptionalDouble.empty());
    }

    /** A quantile of the duration of requests to a version, in microseconds. */
    OptionalDouble quantile(Sample.Key key, String quantile) {
        Double found = quantiles.getOrDefault(key, Map.of()).get(quantile);
        return found == null || found.isNaN() ? OptionalDouble.empty() : OptionalDouble.of(found);
    }

    private static final class Parser {
        private OptionalDouble memory = OptionalDouble.empty();
        private OptionalDouble buffers = OptionalDouble.empty();
        private final List<Double> busy = new ArrayList<>();
        private final List<Double> used = new ArrayList<>();
        private final Map<Sample.Key, Double> queues = new HashMap<>();
        private final Map<Sample.Key, Map<String, Double>> quantiles = new HashMap<>();

        void line(String line) {
            Matcher parts = LINE.matcher(line);
            if (!parts.matches()) {
                return;
            }
            double value;
            try {
                value = Double.parseDouble(parts.group(3));
            } catch (NumberFormatException e) {
                return; // such as +Inf
            }
            String labels = Optional.ofNullable(parts.group(2)).orElse("");
            switch (parts.group(1)) {
                case "process_resident_memory_bytes" -> memory = OptionalDouble.of(value);
                case "gatun_buffer_pool_used_bytes" -> buffers = OptionalDouble.of(value);
                case "nv_gpu_utilization" -> busy.add(value);
                case "nv_gpu_memory_used_bytes" -> used.add(value);
                case "nv_inference_pending_request_count" -> queues.merge(key(labels), value, Double::sum);
                case "nv_inference_request_summary_us" -> {
                    String quantile = label(labels, "quantile");
                    if (!quantile.isEmpty()) {
                        quantiles
                                .computeIfAbsent(key(labels), any -> new HashMap<>())
                                .put(quantile, value);
                    }
                }
                default -> {}
            }
        }

        private static Sample.Key key(String labels) {
            return new Sample.Key(label(labels, "model"), label(labels, "version"));
        }

        private static String label(String labels, String name) {
            Matcher label = LABEL.matcher(labels);
            while (label.find()) {
                if (label.group(1).equals(name)) {
                    return label.group(2).replaceAll("\\\\(.)", "$1");
                }
            }
            return "";
        }

        ServerMetrics result() {
            List<Gpu> gpus = new ArrayList<>();
            for (int i = 0; i < Math.min(Math.min(busy.size(), used.size()), GPU_LIMIT); i++) {
                gpus.add(new Gpu(busy.get(i), used.get(i)));
            }
            return new ServerMetrics(memory, buffers, List.copyOf(gpus), queues, quantiles);
        }
    }
}
