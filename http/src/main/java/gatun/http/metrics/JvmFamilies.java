// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
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
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The families of the Java virtual machine, under the names of Prometheus' client library for Java, without those that
 * stop threads or need listeners. Read when asked. Stateless.
 */
final class JvmFamilies {
    private static final double MILLIS_PER_SECOND = 1e3;

    /** One figure of some memory: the end of the family's name, and what it says. */
    private record Figure(String name, String help, ToLongFunction<MemoryUsage> value) {}

    private static final List<Figure> FIGURES = List.of(
            new Figure("used", "Used bytes of ", MemoryUsage::getUsed),
            new Figure("committed", "Committed bytes of ", MemoryUsage::getCommitted),
            new Figure("max", "Maximum bytes, or -1 without a maximum, of ", MemoryUsage::getMax));

    private JvmFamilies() {}

    static List<MetricSnapshot> read() {
        List<MetricSnapshot> families = new ArrayList<>();
        memory(families);
        collections(families);
        bufferPools(families);
        threads(families);
        classes(families);
        families.add(InfoSnapshot.builder()
                .name("jvm_runtime")
                .help("JVM runtime info")
                .dataPoint(InfoSnapshot.InfoDataPointSnapshot.builder()
                        .labels(Labels.of(
                                "version", property("java.runtime.version"),
                                "vendor", property("java.vm.vendor"),
                                "runtime", property("java.runtime.name")))
                        .build())
                .build());
        return families;
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown");
    }

    private static void memory(List<MetricSnapshot> families) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        MemoryUsage heap = memory.getHeapMemoryUsage();
        MemoryUsage other = memory.getNonHeapMemoryUsage();
        List<MemoryPoolMXBean> pools = ManagementFactory.getMemoryPoolMXBeans();
        for (Figure figure : FIGURES) {
            families.add(GaugeSnapshot.builder()
                    .name("jvm_memory_" + figure.name() + "_bytes")
                    .help(figure.help() + "a given JVM memory area.")
                    .dataPoint(point("area", "heap", (double) figure.value().applyAsLong(heap)))
                    .dataPoint(point("area", "nonheap", (double) figure.value().applyAsLong(other)))
                    .build());
        }
        for (Figure figure : FIGURES) {
            GaugeSnapshot.Builder family = GaugeSnapshot.builder()
                    .name("jvm_memory_pool_" + figure.name() + "_bytes")
                    .help(figure.help() + "a given JVM memory pool.");
            for (MemoryPoolMXBean pool : pools) {
                MemoryUsage usage = pool.getUsage();
                if (usage != null) { // null once the pool is gone
                    family.dataPoint(point(
                            "pool", pool.getName(), (double) figure.value().applyAsLong(usage)));
                }
            }
            families.add(family.build());
        }
    }

    private static void collections(List<MetricSnapshot> families) {
        SummarySnapshot.Builder family = SummarySnapshot.builder()
                .name("jvm_gc_collection_seconds")
                .help("Time spent in a given JVM garbage collector in seconds.");
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            family.dataPoint(SummarySnapshot.SummaryDataPointSnapshot.builder()
                    .labels(Labels.of("gc", collector.getName()))
                    .count(collector.getCollectionCount())
                    .sum(collector.getCollectionTime() / MILLIS_PER_SECOND)
                    .build());
        }
        families.add(family.build());
    }

    private static void bufferPools(List<MetricSnapshot> families) {
        List<BufferPoolMXBean> pools = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
        families.add(bufferPools(pools, "jvm_buffer_pool_used_bytes", "Used bytes of a given JVM buffer pool.", pool ->
                (double) pool.getMemoryUsed()));
        families.add(bufferPools(
                pools, "jvm_buffer_pool_capacity_bytes", "Bytes capacity of a given JVM buffer pool.", pool ->
                        (double) pool.getTotalCapacity()));
        families.add(
                bufferPools(pools, "jvm_buffer_pool_used_buffers", "Used buffers of a given JVM buffer pool.", pool ->
                        (double) pool.getCount()));
    }

    private static MetricSnapshot bufferPools(
            List<BufferPoolMXBean> pools, String name, String help, ToDoubleFunction<BufferPoolMXBean> value) {
        GaugeSnapshot.Builder family = GaugeSnapshot.builder().name(name).help(help);
        pools.forEach(pool -> family.dataPoint(point("pool", pool.getName(), value.applyAsDouble(pool))));
        return family.build();
    }

    /** Platform threads: virtual ones are not counted by the JVM. */
    private static void threads(List<MetricSnapshot> families) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        families.add(MetricsPage.gauge(
                "jvm_threads_current", "Current thread count of a JVM", (double) threads.getThreadCount()));
        families.add(MetricsPage.gauge(
                "jvm_threads_daemon", "Daemon thread count of a JVM", (double) threads.getDaemonThreadCount()));
        families.add(MetricsPage.gauge(
                "jvm_threads_peak", "Peak thread count of a JVM", (double) threads.getPeakThreadCount()));
        families.add(
                count("jvm_threads_started", "Started thread count of a JVM", threads.getTotalStartedThreadCount()));
    }

    private static void classes(List<MetricSnapshot> families) {
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        families.add(MetricsPage.gauge(
                "jvm_classes_currently_loaded", "The number of classes that are currently loaded in the JVM", (double)
                        classes.getLoadedClassCount()));
        families.add(count(
                "jvm_classes_loaded",
                "The total number of classes that have been loaded since the JVM has started execution",
                classes.getTotalLoadedClassCount()));
        families.add(count(
                "jvm_classes_unloaded",
                "The total number of classes that have been unloaded since the JVM has started execution",
                classes.getUnloadedClassCount()));
    }

    /** A counter, to whose name both formats add {@code _total}. */
    private static MetricSnapshot count(String name, String help, long value) {
        return CounterSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .value((double) value)
                        .build())
                .build();
    }

    private static GaugeDataPointSnapshot point(String label, String name, double value) {
        return GaugeDataPointSnapshot.builder()
                .labels(Labels.of(label, name))
                .value(value)
                .build();
    }
}
