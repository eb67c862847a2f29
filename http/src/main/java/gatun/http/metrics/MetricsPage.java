// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.json.JsonWriter;
import gatun.listener.OpenConnections;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.Hold;
import gatun.runtime.EngineStatistics;
import gatun.runtime.ModelStatistics;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.metrics.MetricFamily;
import gatun.runtime.server.InferenceServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Renders the counters of an {@link InferenceServer} under the names that users of Triton know; the names of metrics
 * that Triton does not have begin with {@code gatun_}. Nothing is counted here: the runtime's counters are read, named
 * and labelled on request. Safe for any thread. Those of the process and of the Java virtual machine have the names of
 * Prometheus' client libraries.
 *
 * <p>Two formats: OpenMetrics for those who accept it, else Prometheus' text 0.0.4. In OpenMetrics all counters end with
 * {@code _total}, which Triton's names do not.
 */
public final class MetricsPage {
    /** Bytes of heap that a version needs while the page is written: counters, labels, and what was learned of it. */
    private static final int VERSION_BYTE_SIZE = 4096;

    private static final Path PROC = Path.of("/proc");

    private static final List<Measure<BufferPool>> BUFFERS = List.of(
            Measure.gauge(
                    "gatun_buffer_pool_total_bytes",
                    "The most bytes that requests and responses may occupy at a time",
                    BufferPool::byteLimit),
            Measure.gauge(
                    "gatun_buffer_pool_used_bytes",
                    "Bytes that requests and responses occupy now",
                    BufferPool::usedBytes),
            Measure.gauge(
                    "nv_pinned_memory_pool_total_bytes",
                    "How much of the buffer pool is locked in memory where there are GPUs, in bytes",
                    BufferPool::lockLimit),
            Measure.gauge(
                    "nv_pinned_memory_pool_used_bytes",
                    "Bytes of the buffer pool's locked memory that are lent now",
                    BufferPool::lockedUsedBytes));

    private static final Measure<EngineStatistics> LIVE_VALUES = Measure.gauge(
            "gatun_backend_live_values",
            "Native tensors that a backend holds now, those it keeps for requests to come included",
            EngineStatistics::liveValues);

    private static final Family ACCESS_LOG_LINES = Family.counter(
            "gatun_access_log_lines",
            "Number of lines of the access log: written, and dropped because they came too fast or could not be"
                    + " written");

    private static final List<Measure<HostUsage.Use>> HOST = List.of(
            Measure.gauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", HostUsage.Use::cpu),
            Measure.gauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", HostUsage.Use::memoryBytes),
            Measure.gauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", HostUsage.Use::usedBytes));

    private final InferenceServer server;
    private final ModelFamilies models;
    private final Optional<HostUsage> host;
    private final ProcessFamilies process = new ProcessFamilies(PROC);
    private final Supplier<List<GpuUse>> gpus;
    private final OpenConnections open;

    /**
     * A page about {@code server}.
     *
     * @param gpus tells how busy GPUs are, at each call
     * @param open counts the connections of clients
     */
    public MetricsPage(InferenceServer server, ShownMetrics shown, Supplier<List<GpuUse>> gpus, OpenConnections open) {
        this.server = server;
        this.gpus = gpus;
        this.open = open;
        models = new ModelFamilies(server, shown.latencies());
        host = shown.hostInterval().map(interval -> new HostUsage(PROC, interval, System::nanoTime));
    }

    /** The content type of the page for a request with this {@code Accept} header; empty for a request without one. */
    public String contentType(String accept) {
        return TextFormat.accepted(accept).contentType();
    }

    /**
     * Writes the page for a request with this {@code Accept} header to {@code target}, with the present values, one line
     * after the other; the heap that the models' counters and labels need meanwhile is reserved.
     *
     * @throws gatun.memory.tensor.GatunException UNAVAILABLE when others have taken the heap that it needs
     */
    public void write(String accept, JsonWriter target) {
        List<ModelStatistics> statistics = server.statistics();
        Hold held = server.heap().reserve((long) statistics.size() * VERSION_BYTE_SIZE);
        try {
            PageWriter page = new PageWriter(TextFormat.accepted(accept), target);
            models.write(statistics, page);
            writeServer(page);
            host.flatMap(HostUsage::latest).ifPresent(use -> page.addAll(HOST, Rows.single(use)));
            process.write(page);
            JvmFamilies.write(page);
            DevicePoolFamilies.write(CudaDevices.find().all(), page);
            GpuFamilies.write(gpus.get(), page);
            page.end();
        } finally {
            held.close();
        }
    }

    private void writeServer(PageWriter page) {
        page.addAll(BUFFERS, Rows.single(server.buffers()));
        page.add(LIVE_VALUES, Rows.of(server.engines(), engine -> Labels.of("backend", engine.backend())));
        for (MetricFamily family : server.modelMetrics()) {
            ModelMadeFamilies.write(family, page);
        }
        server.modelMemory().ifPresent(use -> ModelMemoryFamilies.write(use, page));
        ConnectionFamilies.write(open, page);
        AccessLog log = server.accessLog();
        if (log.hasLines()) {
            page.begin(ACCESS_LOG_LINES);
            page.value(Labels.of("result", "dropped"), (double) log.droppedCount());
            page.value(Labels.of("result", "written"), (double) log.writtenCount());
        }
    }
}
