// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.spi.ModelMetrics;
import gatun.workers.FrameReader;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The metrics that one worker has made. For the thread that reads the worker's frames. */
final class MetricCalls implements AutoCloseable {
    private static final double NOTHING = Double.NaN;
    private static final int FAMILY = 7;
    private static final int METRIC = 8;
    private static final int CHANGE = 9;
    private static final int VALUE = 10;
    private static final int DROP_METRIC = 11;
    private static final int DROP_FAMILY = 12;

    /** Prefixes of the names of the server's own metrics. */
    private static final List<String> OWN = List.of("nv_", "gatun_", "jvm_", "process_");

    private final ModelMetrics metrics;
    private final Map<Long, ModelMetrics.Family> families = new HashMap<>();
    private final Map<Long, ModelMetrics.Metric> made = new HashMap<>();
    private long last;

    MetricCalls(ModelMetrics metrics) {
        this.metrics = metrics;
    }

    /** The value of a call; {@link Double#NaN} where it has none. Throws {@link GatunException} why it fails. */
    double take(int method, FrameReader frame) {
        return switch (method) {
            case FAMILY -> family(frame);
            case METRIC -> metric(frame);
            case CHANGE -> change(frame);
            case VALUE -> of(made, frame.u64()).value();
            case DROP_METRIC -> drop(made, frame.u64());
            case DROP_FAMILY -> drop(families, frame.u64());
            default -> throw new GatunException(ErrorCode.UNSUPPORTED, "a worker makes a call of kind " + method);
        };
    }

    private double family(FrameReader frame) {
        String name = frame.text();
        String description = frame.text();
        int kind = frame.u8();
        if (OWN.stream().anyMatch(name::startsWith)) {
            throw GatunException.invalidArgument("metric '" + name + "' begins as the server's own do ("
                    + String.join(", ", OWN) + "); choose another name");
        }
        families.put(++last, metrics.family(name, description, kind(kind)));
        return last;
    }

    private static ModelMetrics.Kind kind(int number) {
        return switch (number) {
            case 0 -> ModelMetrics.Kind.COUNTER;
            case 1 -> ModelMetrics.Kind.GAUGE;
            case 2 -> ModelMetrics.Kind.HISTOGRAM;
            default -> throw GatunException.invalidArgument("there is no kind " + number + " of metrics");
        };
    }

    private double metric(FrameReader frame) {
        long family = frame.u64();
        Map<String, String> labels = new LinkedHashMap<>();
        int labelCount = frame.count(2 * Integer.BYTES);
        for (int i = 0; i < labelCount; i++) {
            labels.put(frame.text(), frame.text());
        }
        List<Double> buckets = frame.list(Double.BYTES, frame::f64);
        made.put(++last, of(families, family).metric(labels, buckets));
        return last;
    }

    private double change(FrameReader frame) {
        ModelMetrics.Metric metric = of(made, frame.u64());
        int operation = frame.u8();
        double value = frame.f64();
        switch (operation) {
            case 0 -> metric.increment(value);
            case 1 -> metric.set(value);
            default -> metric.observe(value);
        }
        return NOTHING;
    }

    private static <T> T of(Map<Long, T> all, long number) {
        T one = all.get(number);
        if (one == null) {
            throw GatunException.invalidArgument("the metric is not there any more");
        }
        return one;
    }

    private static double drop(Map<Long, ? extends Hold> all, long number) {
        Hold dropped = all.remove(number);
        if (dropped != null) {
            dropped.close();
        }
        return NOTHING;
    }

    @Override
    public void close() {
        made.values().forEach(Hold::close);
        families.values().forEach(Hold::close);
    }
}
