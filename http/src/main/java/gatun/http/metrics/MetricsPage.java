// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.listener.OpenConnections;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.Hold;
import gatun.runtime.EngineStatistics;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.metrics.MetricFamily;
import gatun.runtime.server.InferenceServer;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Renders the counters of an {@link InferenceServer} under the names that users of Triton know; the names of metrics
 * that Triton does not have begin with {@code gatun_}. Nothing is counted here: the runtime's counters are read, named
 * and labelled on request. Safe for any thread. Those of the process and of the Java virtual machine have the names of
 * Prometheus' client libraries.
 *
 * <p>Two formats: OpenMetrics for those who accept it, else Prometheus' text 0.0.4. The library's writer of the latter
 * adds {@code _total} to the name of a counter, which Triton's names do not have; there the counters are therefore
 * given to it as metrics without a type, which nothing else on the page is, and their type is written in afterwards. In
 * OpenMetrics the suffix is part of the format, and stays.
 */
public final class MetricsPage {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;
    /** Bytes of heap that a version needs while the page is written: its counters, and its lines in one family. */
    private static final int VERSION_BYTE_SIZE = 2048;

    private static final Path PROC = Path.of("/proc");

    /** One family of the page: its name, its meaning, and its value. */
    private record Family(String name, String help, ToDoubleFunction<ModelStatistics> value) {}

    private static final List<Family> COUNTERS = List.of(
            new Family(
                    "nv_inference_request_success",
                    "Number of successful inference requests, all batch sizes",
                    ModelStatistics::successCount),
            new Family(
                    "nv_inference_count",
                    "Number of inferences performed (a request of batch size n counts n)",
                    model -> model.totals().inferenceCount()),
            new Family(
                    "nv_inference_exec_count",
                    "Number of model executions performed",
                    ModelStatistics::executionCount));

    /** Of models whose responses are cached. */
    private static final List<Family> CACHE = List.of(
            new Family(
                    "nv_cache_num_hits_per_model",
                    "Number of requests that the response cache answered",
                    model -> model.cache().hitCount()),
            new Family(
                    "nv_cache_num_misses_per_model",
                    "Number of requests that were not in the response cache",
                    model -> model.cache().missCount()),
            new Family(
                    "nv_cache_hit_duration_per_model",
                    "Cumulative time of response cache hits in microseconds",
                    model -> model.cache().hitNanos() / NANOS_PER_MICRO),
            new Family(
                    "nv_cache_miss_duration_per_model",
                    "Cumulative time of response cache misses in microseconds",
                    model -> model.cache().missNanos() / NANOS_PER_MICRO));

    private static final List<Family> LATENCIES = List.of(
            micros("nv_inference_request_duration_us", "request handling", model -> model.totals()
                    .nanos()
                    .request()),
            micros("nv_inference_queue_duration_us", "queuing", model -> model.totals()
                    .nanos()
                    .queue()),
            micros("nv_inference_compute_input_duration_us", "compute input", model -> model.totals()
                    .nanos()
                    .computeInput()),
            micros("nv_inference_compute_infer_duration_us", "compute inference", model -> model.totals()
                    .nanos()
                    .computeInfer()),
            micros("nv_inference_compute_output_duration_us", "compute output", model -> model.totals()
                    .nanos()
                    .computeOutput()));

    private static final List<Family> GAUGES = List.of(
            new Family(
                    "nv_inference_pending_request_count",
                    "Instantaneous number of pending requests awaiting execution",
                    model -> model.totals().pendingRequestCount()),
            new Family(
                    "nv_model_load_duration_secs",
                    "Time it took to load the model, in seconds",
                    model -> model.totals().loadNanos() / NANOS_PER_SECOND));

    private final InferenceServer server;
    private final List<Family> counters = new ArrayList<>(COUNTERS);
    private final ModelLabels labels;
    private final LatencyFamilies latencies;
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
        labels = new ModelLabels(server);
        latencies = new LatencyFamilies(shown.latencies(), labels);
        host = shown.hostInterval().map(interval -> new HostUsage(PROC, interval, System::nanoTime));
        if (latencies.counters()) {
            counters.addAll(LATENCIES);
        }
    }

    private static Family micros(String name, String stage, ToDoubleFunction<ModelStatistics> nanos) {
        return new Family(
                name,
                "Cumulative inference " + stage + " duration in microseconds",
                model -> nanos.applyAsDouble(model) / NANOS_PER_MICRO);
    }

    /** The content type of the page for a request with this {@code Accept} header; empty for a request without one. */
    public String contentType(String accept) {
        return writer(accept).getContentType();
    }

    /**
     * Writes the page for a request with this {@code Accept} header, with the present values, one family after the
     * other: only one of them is on the heap at a time, and the heap that the models' lines need is reserved.
     *
     * @throws gatun.memory.tensor.GatunException UNAVAILABLE when others have taken the heap that it needs
     */
    public void write(String accept, OutputStream target) throws IOException {
        List<ModelStatistics> models = server.statistics();
        Hold held = server.heap().reserve((long) models.size() * VERSION_BYTE_SIZE);
        try {
            FamilyWriter families = new FamilyWriter(writer(accept), target);
            writeFamilies(models, families);
            families.end();
        } finally {
            held.close();
        }
    }

    private static ExpositionFormatWriter writer(String accept) {
        return accept.contains("application/openmetrics-text")
                ? OpenMetricsTextFormatWriter.create()
                : PrometheusTextFormatWriter.create();
    }

    /** The counters of a version, and the labels that its lines have in each family. */
    private record Labelled(Labels labels, ModelStatistics statistics) {}

    private void writeFamilies(List<ModelStatistics> statistics, FamilyWriter families) throws IOException {
        List<Labelled> models = statistics.stream()
                .map(model -> new Labelled(labels.of(model.model(), model.version()), model))
                .toList();
        boolean typed = families.typed();
        writeCounters(counters, models, families);
        List<Labelled> cached = models.stream()
                .filter(model -> model.statistics().cached().isPresent())
                .toList();
        if (latencies.counters() && !cached.isEmpty()) {
            writeCounters(CACHE, cached, families);
        }
        families.add(failures(models, typed));
        if (latencies.any()) {
            latencies.writeTo(families, server.latencies());
        }
        for (Family family : GAUGES) {
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name(family.name()).help(family.help());
            for (Labelled model : models) {
                gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .labels(model.labels())
                        .value(family.value().applyAsDouble(model.statistics()))
                        .build());
            }
            families.add(gauge.build());
        }
        families.add(gauge(
                "gatun_buffer_pool_total_bytes",
                "The most bytes that requests and responses may occupy at a time",
                (double) server.buffers().byteLimit()));
        families.add(gauge("gatun_buffer_pool_used_bytes", "Bytes that requests and responses occupy now", (double)
                server.buffers().usedBytes()));
        families.add(gauge(
                "nv_pinned_memory_pool_total_bytes",
                "How much of the buffer pool is locked in memory where there are GPUs, in bytes",
                (double) server.buffers().lockLimit()));
        families.add(gauge(
                "nv_pinned_memory_pool_used_bytes",
                "Bytes of the buffer pool's locked memory that are lent now",
                (double) server.buffers().lockedUsedBytes()));
        GaugeSnapshot.Builder values = GaugeSnapshot.builder()
                .name("gatun_backend_live_values")
                .help("Native tensors that a backend holds now, those it keeps for requests to come included");
        for (EngineStatistics engine : server.engines()) {
            values.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                    .labels(Labels.of("backend", engine.backend()))
                    .value((double) engine.liveValues())
                    .build());
        }
        families.add(values.build());
        for (MetricFamily family : server.modelMetrics()) {
            families.add(
                    switch (family.kind()) {
                        case COUNTER ->
                            counter(family.name(), family.description(), ModelMadeFamilies.points(family), typed);
                        case GAUGE -> ModelMadeFamilies.gauge(family);
                        case HISTOGRAM -> ModelMadeFamilies.histogram(family);
                    });
        }
        Optional<ModelMemoryUse> memory = server.modelMemory();
        if (memory.isPresent()) {
            families.addAll(ModelMemoryFamilies.gauges(memory.get()));
            families.add(counter(
                    "gatun_model_loads_on_demand",
                    "Number of times that a model was loaded because a request needed it",
                    List.of(new Point(Labels.EMPTY, memory.get().loadCount())),
                    typed));
            families.add(counter(
                    "gatun_model_evictions",
                    "Number of times that a model was closed to make room for another",
                    List.of(new Point(Labels.EMPTY, memory.get().evictionCount())),
                    typed));
        }
        families.add(ConnectionFamilies.open(open));
        families.add(counter(
                "gatun_connections_refused",
                "Number of connections that were refused because there were too many",
                ConnectionFamilies.refused(open),
                typed));
        families.add(counter(
                "gatun_client_errors",
                "Number of connections that ended because of what their clients did",
                ConnectionFamilies.errors(open.errors()),
                typed));
        AccessLog accessLog = server.accessLog();
        if (accessLog.hasLines()) {
            families.add(counter(
                    "gatun_access_log_lines",
                    "Number of lines of the access log: written, and dropped because they came too fast or could not"
                            + " be written",
                    List.of(
                            new Point(Labels.of("result", "written"), accessLog.writtenCount()),
                            new Point(Labels.of("result", "dropped"), accessLog.droppedCount())),
                    typed));
        }
        Optional<HostUsage.Use> usage = host.flatMap(HostUsage::latest);
        if (usage.isPresent()) {
            HostUsage.Use use = usage.get();
            families.add(gauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", use.cpu()));
            families.add(
                    gauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", (double) use.memoryBytes()));
            families.add(
                    gauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", (double) use.usedBytes()));
        }
        families.addAll(process.read());
        families.addAll(JvmFamilies.read());
        families.addAll(DevicePoolFamilies.of(CudaDevices.find().all()));
        List<GpuUse> present = gpus.get();
        families.addAll(GpuFamilies.gauges(present));
        List<Point> energy = GpuFamilies.energy(present);
        if (!energy.isEmpty()) {
            families.add(counter(
                    "nv_energy_consumption",
                    "GPU energy consumption in joules since the server was started",
                    energy,
                    typed));
        }
    }

    private void writeCounters(List<Family> counted, List<Labelled> models, FamilyWriter families) throws IOException {
        for (Family family : counted) {
            List<Point> points = new ArrayList<>();
            for (Labelled model : models) {
                points.add(new Point(model.labels(), family.value().applyAsDouble(model.statistics())));
            }
            families.add(counter(family.name(), family.help(), points, families.typed()));
        }
    }

    /** A value and its labels. */
    record Point(Labels labels, double value) {}

    private static MetricSnapshot failures(List<Labelled> models, boolean typed) {
        List<Point> points = new ArrayList<>();
        for (Labelled model : models) {
            Labels labels = model.labels();
            ModelStatistics.Failures failures = model.statistics().totals().failures();
            points.add(failure(labels, "REJECTED", failures.rejected()));
            points.add(failure(labels, "CANCELED", failures.canceled()));
            points.add(failure(labels, "BACKEND", failures.backend()));
            points.add(failure(labels, "OTHER", failures.other()));
        }
        return counter(
                "nv_inference_request_failure", "Number of failed inference requests, all batch sizes", points, typed);
    }

    private static Point failure(Labels labels, String reason, long count) {
        return new Point(labels.add("reason", reason), count);
    }

    private static MetricSnapshot counter(String name, String help, List<Point> points, boolean typed) {
        if (typed) {
            CounterSnapshot.Builder counter =
                    CounterSnapshot.builder().name(name).help(help);
            for (Point point : points) {
                counter.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .labels(point.labels())
                        .value(point.value())
                        .build());
            }
            return counter.build();
        }
        UnknownSnapshot.Builder counter = UnknownSnapshot.builder().name(name).help(help);
        for (Point point : points) {
            counter.dataPoint(UnknownSnapshot.UnknownDataPointSnapshot.builder()
                    .labels(point.labels())
                    .value(point.value())
                    .build());
        }
        return counter.build();
    }

    static MetricSnapshot gauge(String name, String help, double value) {
        return GaugeSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .value(value)
                        .build())
                .build();
    }
}
