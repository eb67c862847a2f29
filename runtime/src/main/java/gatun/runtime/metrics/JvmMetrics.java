// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/** The virtual machine's families, named as Prometheus' library does, without costly ones. Stateless. */
public final class JvmMetrics {
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final List<Measure<MemoryUsage>> AREAS = memory("jvm_memory_", "a given JVM memory area.");
    private static final List<Measure<MemoryUsage>> POOLS = memory("jvm_memory_pool_", "a given JVM memory pool.");

    private static final List<Measure<BufferPoolMXBean>> BUFFER_POOLS = List.of(
            Measure.gauge(
                    "jvm_buffer_pool_used_bytes",
                    "Used bytes of a given JVM buffer pool.",
                    BufferPoolMXBean::getMemoryUsed),
            Measure.gauge(
                    "jvm_buffer_pool_capacity_bytes",
                    "Bytes capacity of a given JVM buffer pool.",
                    BufferPoolMXBean::getTotalCapacity),
            Measure.gauge(
                    "jvm_buffer_pool_used_buffers",
                    "Used buffers of a given JVM buffer pool.",
                    BufferPoolMXBean::getCount));

    /** Platform threads: virtual ones are not counted by the JVM. */
    private static final List<Measure<ThreadMXBean>> THREADS = List.of(
            Measure.gauge("jvm_threads_current", "Current thread count of a JVM", ThreadMXBean::getThreadCount),
            Measure.gauge("jvm_threads_daemon", "Daemon thread count of a JVM", ThreadMXBean::getDaemonThreadCount),
            Measure.gauge("jvm_threads_peak", "Peak thread count of a JVM", ThreadMXBean::getPeakThreadCount),
            Measure.counter(
                    "jvm_threads_started_total",
                    "Started thread count of a JVM",
                    ThreadMXBean::getTotalStartedThreadCount));

    private static final List<Measure<ClassLoadingMXBean>> CLASSES = List.of(
            Measure.gauge(
                    "jvm_classes_currently_loaded",
                    "The number of classes that are currently loaded in the JVM",
                    ClassLoadingMXBean::getLoadedClassCount),
            Measure.counter(
                    "jvm_classes_loaded_total",
                    "The total number of classes that have been loaded since the JVM has started execution",
                    ClassLoadingMXBean::getTotalLoadedClassCount),
            Measure.counter(
                    "jvm_classes_unloaded_total",
                    "The total number of classes that have been unloaded since the JVM has started execution",
                    ClassLoadingMXBean::getUnloadedClassCount));

    private JvmMetrics() {}

    private static List<Measure<MemoryUsage>> memory(String prefix, String whose) {
        return List.of(
                Measure.gauge(prefix + "used_bytes", "Used bytes of " + whose, MemoryUsage::getUsed),
                Measure.gauge(prefix + "committed_bytes", "Committed bytes of " + whose, MemoryUsage::getCommitted),
                Measure.gauge(
                        prefix + "max_bytes",
                        "Maximum bytes, or -1 without a maximum, of " + whose,
                        MemoryUsage::getMax));
    }

    /** Gives {@code sink} what the virtual machine tells now. */
    public static void publish(MetricSink sink) {
        memory(sink);
        collections(sink);
        sink.addAll(
                BUFFER_POOLS,
                MetricRows.of(
                        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class),
                        pool -> Labels.of("pool", pool.getName())));
        sink.addAll(THREADS, MetricRows.single(ManagementFactory.getThreadMXBean()));
        sink.addAll(CLASSES, MetricRows.single(ManagementFactory.getClassLoadingMXBean()));
        sink.begin(new MetricFamily("jvm_runtime", MetricFamily.Kind.INFO, "JVM runtime info"));
        sink.info(Labels.of("version", property("java.runtime.version"))
                .with("vendor", property("java.vm.vendor"))
                .with("runtime", property("java.runtime.name")));
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown");
    }

    private static void memory(MetricSink sink) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        List<MetricRows.Row<MemoryUsage>> areas = new ArrayList<>();
        areas.add(new MetricRows.Row<>(Labels.of("area", "heap"), memory.getHeapMemoryUsage()));
        areas.add(new MetricRows.Row<>(Labels.of("area", "nonheap"), memory.getNonHeapMemoryUsage()));
        sink.addAll(AREAS, MetricRows.of(areas));
        List<MetricRows.Row<MemoryUsage>> pools = new ArrayList<>();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage usage = pool.getUsage();
            if (usage != null) { // null once the pool is gone
                pools.add(new MetricRows.Row<>(Labels.of("pool", pool.getName()), usage));
            }
        }
        sink.addAll(POOLS, MetricRows.of(pools));
    }

    private static void collections(MetricSink sink) {
        sink.begin(new MetricFamily(
                "jvm_gc_collection_seconds",
                MetricFamily.Kind.SUMMARY,
                "Time spent in a given JVM garbage collector in seconds."));
        for (MetricRows.Row<GarbageCollectorMXBean> row : MetricRows.of(
                ManagementFactory.getGarbageCollectorMXBeans(), collector -> Labels.of("gc", collector.getName()))) {
            GarbageCollectorMXBean collector = row.subject();
            sink.summary(
                    row.labels(),
                    List.of(),
                    new double[0],
                    collector.getCollectionCount(),
                    collector.getCollectionTime() / MILLIS_PER_SECOND);
        }
    }
}
