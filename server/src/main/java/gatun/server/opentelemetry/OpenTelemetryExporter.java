// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceExporter;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Sends traces to an OpenTelemetry collector, each as a tree of spans. The thread that ends a trace makes its spans; a
 * thread of OpenTelemetry's sends them, many at a time. Spans that the collector does not take in time are dropped, and
 * the log says so. Safe for any thread.
 */
public final class OpenTelemetryExporter implements TraceExporter {
    /** The name of the tracer, which is Triton's. */
    private static final String TRACER = "triton-server";

    private static final Duration SEND_LIMIT = Duration.ofSeconds(10);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

    /** Held, since an unreferenced logger forgets that it is off. The library's failures are logged here, once. */
    private static final Logger LIBRARY_LOG = Logger.getLogger("io.opentelemetry");

    private final CollectorSettings collector;
    private final SpanBacklog backlog;
    private final ChosenIds ids = new ChosenIds();
    private final SdkTracerProvider provider;
    private final Tracer tracer;

    private OpenTelemetryExporter(CollectorSettings collector) {
        this.collector = collector;
        LIBRARY_LOG.setLevel(Level.OFF);
        backlog = new SpanBacklog(collector.address(), collector.maxQueueSize());
        OtlpHttpSpanExporter sender = OtlpHttpSpanExporter.builder()
                .setEndpoint(collector.address().toString())
                .setTimeout(SEND_LIMIT)
                .build();
        provider = SdkTracerProvider.builder()
                // The choice of traces has been made already.
                .setSampler(Sampler.alwaysOn())
                .setIdGenerator(ids)
                .setResource(resource(collector.resource()))
                .addSpanProcessor(BatchSpanProcessor.builder(backlog.before(sender))
                        .setMaxQueueSize(collector.maxQueueSize())
                        .setScheduleDelay(longerThanNothing(collector.scheduleDelay()))
                        .setMaxExportBatchSize(collector.maxBatchSize())
                        .build())
                .build();
        tracer = provider.get(TRACER);
    }

    /** Sends traces to {@code collector}, which need not be there. */
    public static OpenTelemetryExporter to(CollectorSettings collector) {
        return new OpenTelemetryExporter(collector);
    }

    private static Resource resource(Map<String, String> told) {
        AttributesBuilder attributes = Attributes.builder();
        told.forEach(attributes::put);
        return Resource.getDefault().merge(Resource.create(attributes.build()));
    }

    /** With a delay of zero, the sending thread would never sleep. */
    private static Duration longerThanNothing(Duration delay) {
        return delay.isZero() ? Duration.ofMillis(1) : delay;
    }

    @Override
    public String mode() {
        return "opentelemetry";
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("url", collector.url());
        settings.put("bsp_max_queue_size", Integer.toString(collector.maxQueueSize()));
        settings.put(
                "bsp_schedule_delay", Long.toString(collector.scheduleDelay().toMillis()));
        settings.put("bsp_max_export_batch_size", Integer.toString(collector.maxBatchSize()));
        return settings;
    }

    @Override
    public boolean joinsClients() {
        return true;
    }

    @Override
    public boolean tellsTensors() {
        return false;
    }

    @Override
    public void export(RequestTrace trace) {
        TracedSpan.of(trace).filter(root -> backlog.admits(root.count())).ifPresent(root -> {
            Context parent = trace.joined()
                    .map(client -> SpanContext.createFromRemoteParent(
                            client.traceId(), client.spanId(), TraceFlags.getSampled(), TraceState.getDefault()))
                    .map(client -> Span.wrap(client).storeInContext(Context.root()))
                    .orElse(Context.root());
            // Read for each trace: the wall clock is adjusted now and then, the other is not.
            long epochNanos = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now()) - System.nanoTime();
            ids.nextTrace(trace.namedTrace());
            root.record(tracer, ids, parent, epochNanos);
        });
    }

    /** Does nothing: traces are sent soon, with any settings. */
    @Override
    public void flush() {}

    /** Sends the waiting spans, as far as the collector takes them within some seconds. */
    @Override
    public void close() {
        provider.shutdown().join(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        backlog.close();
    }
}
