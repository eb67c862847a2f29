// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ModelMetrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** A metric of a {@link MetricRegistry}. Safe for any thread. */
final class MetricState {
    private final ModelMetrics.Kind kind;
    private final Map<String, String> labels;
    private final double[] bounds;
    private final ReentrantLock lock = new ReentrantLock();
    private final long[] counts; // guarded by lock
    private double value; // guarded by lock

    /** How many have asked for it and not closed it; guarded by the registry. */
    int users;

    MetricState(ModelMetrics.Kind kind, Map<String, String> labels, List<Double> bounds) {
        this.kind = kind;
        this.labels = labels;
        this.bounds = bounds.stream().mapToDouble(Double::doubleValue).toArray();
        counts = new long[this.bounds.length + 1];
    }

    List<Double> bounds() {
        return Arrays.stream(bounds).boxed().toList();
    }

    void increment(double amount) {
        require(kind != ModelMetrics.Kind.HISTOGRAM, "incremented");
        if (kind == ModelMetrics.Kind.COUNTER && !(amount >= 0)) {
            throw GatunException.invalidArgument(
                    "a counter cannot be incremented by " + amount + ": expected a number from 0 up");
        }
        lock.lock();
        try {
            value += amount;
        } finally {
            lock.unlock();
        }
    }

    void set(double next) {
        require(kind == ModelMetrics.Kind.GAUGE, "set");
        lock.lock();
        try {
            value = next;
        } finally {
            lock.unlock();
        }
    }

    void observe(double observed) {
        require(kind == ModelMetrics.Kind.HISTOGRAM, "observed");
        int bucket = 0;
        while (bucket < bounds.length && !(observed <= bounds[bucket])) {
            bucket++;
        }
        lock.lock();
        try {
            counts[bucket]++;
            value += observed;
        } finally {
            lock.unlock();
        }
    }

    double value() {
        require(kind != ModelMetrics.Kind.HISTOGRAM, "read as one value");
        lock.lock();
        try {
            return value;
        } finally {
            lock.unlock();
        }
    }

    MetricValue read() {
        lock.lock();
        try {
            List<Long> seen = new ArrayList<>();
            if (kind == ModelMetrics.Kind.HISTOGRAM) {
                Arrays.stream(counts).forEach(seen::add);
            }
            return new MetricValue(labels, value, bounds(), seen);
        } finally {
            lock.unlock();
        }
    }

    private void require(boolean possible, String what) {
        if (!possible) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "a metric of kind " + kind.name().toLowerCase(Locale.ROOT) + " cannot be " + what);
        }
    }
}
