// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ModelMetrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/** Metrics of models and backends, each kept until all who asked for it have closed it. Thread-safe. */
public final class MetricRegistry implements ModelMetrics, MetricSource {
    /** The most families, and the most metrics of a family: a model that makes one for each request must end. */
    static final int LIMIT = 1024;

    private static final Pattern NAME = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*");
    private static final Pattern LABEL = Pattern.compile("(?!__)[a-zA-Z_][a-zA-Z0-9_]*");

    /** The label of a bucket's bound on the page. */
    private static final String BOUND = "le";

    private final ReentrantLock lock = new ReentrantLock();
    private final SortedMap<String, Entry> families = new TreeMap<>(); // guarded by lock

    /** A family with its metrics. */
    private static final class Entry {
        final String name;
        final String description;
        final Kind kind;
        final Map<Map<String, String>, MetricState> metrics = new LinkedHashMap<>();
        int users;

        Entry(String name, String description, Kind kind) {
            this.name = name;
            this.description = description;
            this.kind = kind;
        }
    }

    /** Without families. */
    public MetricRegistry() {}

    @Override
    public Family family(String name, String description, Kind kind) {
        if (!NAME.matcher(name).matches()) {
            throw GatunException.invalidArgument(
                    "'" + name + "' is no name of a metric: expected letters, digits, '_' and ':', and no digit first");
        }
        lock.lock();
        try {
            Entry entry = families.get(name);
            if (entry == null) {
                requireRoom(families.size(), "families of metrics");
                entry = new Entry(name, description, kind);
                families.put(name, entry);
            } else if (entry.kind != kind) {
                throw GatunException.invalidArgument("metric '" + name + "' is of kind "
                        + entry.kind.name().toLowerCase(Locale.ROOT) + " already, and cannot be of kind "
                        + kind.name().toLowerCase(Locale.ROOT) + " too");
            }
            entry.users++;
            return new OpenFamily(entry);
        } finally {
            lock.unlock();
        }
    }

    /** Gives {@code sink} every family that has metrics, by name. Holds no lock meanwhile. */
    @Override
    public void publish(MetricSink sink) {
        for (Reading reading : read()) {
            Entry entry = reading.entry();
            sink.begin(new MetricFamily(
                    entry.name,
                    switch (entry.kind) {
                        case COUNTER -> MetricFamily.Kind.COUNTER;
                        case GAUGE -> MetricFamily.Kind.GAUGE;
                        case HISTOGRAM -> MetricFamily.Kind.HISTOGRAM;
                    },
                    entry.description));
            for (MetricRows.Row<MetricState> row : MetricRows.of(reading.metrics(), metric -> metric.labels)) {
                row.subject().publish(sink);
            }
        }
    }

    /** The metrics of a family at one moment. */
    private record Reading(Entry entry, List<MetricState> metrics) {}

    private List<Reading> read() {
        lock.lock();
        try {
            List<Reading> read = new ArrayList<>();
            for (Entry entry : families.values()) {
                if (!entry.metrics.isEmpty()) {
                    read.add(new Reading(entry, List.copyOf(entry.metrics.values())));
                }
            }
            return read;
        } finally {
            lock.unlock();
        }
    }

    private static void requireRoom(int count, String what) {
        if (count >= LIMIT) {
            throw GatunException.invalidArgument(
                    "models have made " + count + " " + what + ", which is the limit; close those that are done with");
        }
    }

    private void dropIfUnused(Entry entry) {
        if (entry.users == 0) {
            families.remove(entry.name, entry);
        }
    }

    /** What one caller of {@link #family} got. */
    private final class OpenFamily implements Family {
        private final Entry entry;
        private final AtomicBoolean closed = new AtomicBoolean();

        OpenFamily(Entry entry) {
            this.entry = entry;
        }

        @Override
        public ModelMetrics.Metric metric(Map<String, String> labels, List<Double> buckets) {
            labels.keySet().forEach(label -> requireLabel(entry.kind, label));
            requireBuckets(entry.kind, buckets);
            lock.lock();
            try {
                MetricState metric = entry.metrics.get(labels);
                if (metric == null) {
                    requireRoom(entry.metrics.size(), "metrics of family '" + entry.name + "'");
                    metric = new MetricState(entry.kind, Map.copyOf(labels), buckets);
                    entry.metrics.put(Map.copyOf(labels), metric);
                }
                metric.users++;
                // A metric keeps its family.
                entry.users++;
                return new OpenMetric(entry, metric, Map.copyOf(labels));
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            if (!closed.compareAndSet(false, true)) {
                return;
            }
            lock.lock();
            try {
                entry.users--;
                dropIfUnused(entry);
            } finally {
                lock.unlock();
            }
        }
    }

    /** What one caller of {@link Family#metric} got. */
    private final class OpenMetric implements ModelMetrics.Metric {
        private final Entry entry;
        private final MetricState metric;
        private final Map<String, String> labels;
        private final AtomicBoolean closed = new AtomicBoolean();

        OpenMetric(Entry entry, MetricState metric, Map<String, String> labels) {
            this.entry = entry;
            this.metric = metric;
            this.labels = labels;
        }

        @Override
        public void increment(double amount) {
            metric.increment(amount);
        }

        @Override
        public void set(double value) {
            metric.set(value);
        }

        @Override
        public void observe(double value) {
            metric.observe(value);
        }

        @Override
        public double value() {
            return metric.value();
        }

        @Override
        public void close() {
            if (!closed.compareAndSet(false, true)) {
                return;
            }
            lock.lock();
            try {
                if (--metric.users == 0) {
                    entry.metrics.remove(labels);
                }
                entry.users--;
                dropIfUnused(entry);
            } finally {
                lock.unlock();
            }
        }
    }

    private static void requireLabel(Kind kind, String label) {
        if (!LABEL.matcher(label).matches()) {
            throw GatunException.invalidArgument("'" + label
                    + "' is no name of a label: expected letters, digits and '_', no digit first, and no '__'");
        }
        if (kind == Kind.HISTOGRAM && label.equals(BOUND)) {
            throw GatunException.invalidArgument("'" + BOUND
                    + "' is no name of a label of a histogram, whose buckets have their bounds there: choose another");
        }
    }

    private static void requireBuckets(Kind kind, List<Double> buckets) {
        if (kind != Kind.HISTOGRAM) {
            if (!buckets.isEmpty()) {
                throw GatunException.invalidArgument("Unexpected buckets found: only a histogram has them");
            }
            return;
        }
        for (int i = 0; i < buckets.size(); i++) {
            if (!Double.isFinite(buckets.get(i)) || (i > 0 && buckets.get(i) <= buckets.get(i - 1))) {
                throw GatunException.invalidArgument(
                        "The buckets " + buckets + " of a histogram do not rise, or are not finite");
            }
        }
    }

    /** A metric of a {@link MetricRegistry}. Safe for any thread. */
    static final class MetricState {
        private final ModelMetrics.Kind kind;
        private final Labels labels;
        private final List<Double> bounds;
        private final ReentrantLock lock = new ReentrantLock();
        private final long[] counts; // guarded by lock
        private double value; // guarded by lock

        /** How many have asked for it and not closed it; guarded by the registry. */
        int users;

        MetricState(ModelMetrics.Kind kind, Map<String, String> labels, List<Double> bounds) {
            this.kind = kind;
            this.labels = Labels.of(labels);
            this.bounds = List.copyOf(bounds);
            counts = new long[bounds.size() + 1];
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
            while (bucket < bounds.size() && !(observed <= bounds.get(bucket))) {
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

        void publish(MetricSink sink) {
            double present;
            long[] upTo;
            lock.lock();
            try {
                present = value;
                upTo = counts.clone();
            } finally {
                lock.unlock();
            }
            if (kind == ModelMetrics.Kind.HISTOGRAM) {
                for (int i = 1; i < upTo.length; i++) {
                    upTo[i] += upTo[i - 1];
                }
                sink.histogram(labels, bounds, upTo, present);
            } else {
                sink.value(labels, present);
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
}
