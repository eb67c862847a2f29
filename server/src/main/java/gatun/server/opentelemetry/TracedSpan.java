// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.Timestamp;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.runtime.tracing.TraceParent;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A span under Triton's names: {@code InferRequest} from a request's first byte to its response's last, the model's
 * name while the server has the request, {@code compute} while an instance has it, and the backend's own. A request
 * made for another lies within that one's span. {@code events} are in the order of their times.
 */
record TracedSpan(
        String name, Optional<String> id, Attributes attributes, List<Event> events, List<TracedSpan> children) {
    /** Something in a span. {@code nanos} says when, as a reading of {@link System#nanoTime}. */
    record Event(String name, long nanos) {}

    /** The spans of a client's request; empty when it has reached no stage that is told. */
    static Optional<TracedSpan> of(RequestTrace trace) {
        return span("InferRequest", Attributes.empty(), events(trace, Part.EDGE), request(trace));
    }

    private static List<TracedSpan> request(RequestTrace trace) {
        List<TracedSpan> children = new ArrayList<>();
        List<Event> compute = events(trace, Part.COMPUTE);
        if (!compute.isEmpty()) {
            Optional<String> id = trace.namedRun().map(TraceParent::spanId);
            children.add(new TracedSpan("compute", id, Attributes.empty(), compute, List.of()));
        }
        BackendSpans told = BackendSpans.of(trace);
        children.addAll(told.spans());
        trace.children().forEach(child -> children.addAll(request(child)));
        List<Event> events = new ArrayList<>(events(trace, Part.REQUEST));
        events.addAll(told.events());
        events.sort(Comparator.comparingLong(Event::nanos));
        return span(trace.modelName(), attributes(trace), events, children).stream()
                .toList();
    }

    private static Optional<TracedSpan> span(
            String name, Attributes attributes, List<Event> events, List<TracedSpan> children) {
        return events.isEmpty() && children.isEmpty()
                ? Optional.empty()
                : Optional.of(new TracedSpan(name, Optional.empty(), attributes, events, children));
    }

    private static Attributes attributes(RequestTrace trace) {
        AttributesBuilder attributes = Attributes.builder()
                .put("triton.model_name", trace.modelName())
                .put("triton.model_version", trace.modelVersion())
                .put("triton.trace_id", trace.id())
                .put("triton.trace_parent_id", trace.parentId());
        if (!trace.requestId().isEmpty()) {
            attributes.put("triton.request_id", trace.requestId());
        }
        return attributes.build();
    }

    private static List<Event> events(RequestTrace trace, Part part) {
        return trace.events().stream()
                .flatMap(event -> event instanceof Timestamp timestamp ? Stream.of(timestamp) : Stream.empty())
                .filter(timestamp -> Part.of(timestamp.stage()) == part)
                .map(timestamp -> new Event(timestamp.stage().name(), timestamp.nanos()))
                .sorted(Comparator.comparingLong(Event::nanos))
                .toList();
    }

    int count() {
        return 1 + children.stream().mapToInt(TracedSpan::count).sum();
    }

    /** Records these spans. {@code epochNanos} is added to events' times, for nanoseconds since 1970. */
    void record(Tracer tracer, ChosenIds ids, Context parent, long epochNanos) {
        ids.nextSpan(id);
        Span span = tracer.spanBuilder(name)
                .setParent(parent)
                // As Triton has it, for inner spans too.
                .setSpanKind(SpanKind.SERVER)
                .setAllAttributes(attributes)
                .setStartTimestamp(beganNanos() + epochNanos, TimeUnit.NANOSECONDS)
                .startSpan();
        for (Event event : events) {
            span.addEvent(event.name(), event.nanos() + epochNanos, TimeUnit.NANOSECONDS);
        }
        Context within = parent.with(span);
        children.forEach(child -> child.record(tracer, ids, within, epochNanos));
        span.end(endedNanos() + epochNanos, TimeUnit.NANOSECONDS);
    }

    private long beganNanos() {
        return LongStream.concat(
                        events.stream().mapToLong(Event::nanos),
                        children.stream().mapToLong(TracedSpan::beganNanos))
                .min()
                .orElseThrow();
    }

    private long endedNanos() {
        return LongStream.concat(
                        events.stream().mapToLong(Event::nanos),
                        children.stream().mapToLong(TracedSpan::endedNanos))
                .max()
                .orElseThrow();
    }

    /** The span of a request that a stage belongs to. */
    private enum Part {
        EDGE,
        REQUEST,
        COMPUTE;

        static Part of(TraceStage stage) {
            return switch (stage) {
                case HTTP_RECV_START,
                        HTTP_RECV_END,
                        HTTP_SEND_START,
                        HTTP_SEND_END,
                        GRPC_WAITREAD_START,
                        GRPC_WAITREAD_END,
                        GRPC_SEND_START,
                        GRPC_SEND_END,
                        INFER_RESPONSE_COMPLETE -> EDGE;
                case REQUEST_START, QUEUE_START, REQUEST_END -> REQUEST;
                case COMPUTE_START, COMPUTE_INPUT_END, COMPUTE_OUTPUT_START, COMPUTE_END -> COMPUTE;
            };
        }
    }
}
