// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

/** A collector of traces on a free port of the loopback address, which keeps what it is sent. Safe for any thread. */
public final class TraceCollector implements AutoCloseable {
    private final HttpServer http;
    private final Queue<ResourceSpans> received = new ConcurrentLinkedQueue<>();
    private volatile int status;

    private TraceCollector(HttpServer http, int status) {
        this.http = http;
        this.status = status;
    }

    /** A collector that answers with an HTTP status. */
    public static TraceCollector answering(int status) {
        try {
            HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            TraceCollector collector = new TraceCollector(http, status);
            http.createContext("/v1/traces", collector::take);
            http.start();
            return collector;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange) {
            received.addAll(ExportTraceServiceRequest.parseFrom(exchange.getRequestBody())
                    .getResourceSpansList());
            exchange.sendResponseHeaders(status, -1);
        }
    }

    /** Answers with another status from now on. */
    public void answer(int other) {
        status = other;
    }

    /** Where it takes traces. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + http.getAddress().getPort() + "/v1/traces");
    }

    /** All spans that were sent, in that order. */
    public List<Span> spans() {
        return received.stream()
                .flatMap(spans -> spans.getScopeSpansList().stream())
                .flatMap(spans -> spans.getSpansList().stream())
                .toList();
    }

    /** The spans of this name. */
    public List<Span> spans(String name) {
        return spans().stream().filter(span -> span.getName().equals(name)).toList();
    }

    /** The one span of this name. */
    public Span span(String name) {
        List<Span> named = spans(name);
        if (named.size() != 1) {
            throw new AssertionError(named.size() + " spans are named " + name + " among " + spans());
        }
        return named.getFirst();
    }

    /** The attributes of the sender of the spans. */
    public Map<String, String> resource() {
        return texts(received.element().getResource().getAttributesList());
    }

    /** Attributes of a span, beside its times. */
    public static Map<String, String> attributes(Span span) {
        return texts(span.getAttributesList());
    }

    private static Map<String, String> texts(List<KeyValue> attributes) {
        return attributes.stream().collect(Collectors.toMap(KeyValue::getKey, pair -> text(pair.getValue())));
    }

    private static String text(AnyValue value) {
        return value.hasIntValue() ? Long.toString(value.getIntValue()) : value.getStringValue();
    }

    /** The stages that a span tells, in their order. */
    public static List<String> events(Span span) {
        return span.getEventsList().stream().map(Span.Event::getName).toList();
    }

    /** The number of the trace that a span belongs to. */
    public static String traceId(Span span) {
        return HexFormat.of().formatHex(span.getTraceId().toByteArray());
    }

    /** The number of the span that a span lies in; empty for none. */
    public static String parent(Span span) {
        return HexFormat.of().formatHex(span.getParentSpanId().toByteArray());
    }

    /** Whether a span lies in another, and begins and ends within its times. */
    public static boolean within(Span inner, Span outer) {
        return inner.getParentSpanId().equals(outer.getSpanId())
                && inner.getTraceId().equals(outer.getTraceId())
                && inner.getStartTimeUnixNano() >= outer.getStartTimeUnixNano()
                && inner.getEndTimeUnixNano() <= outer.getEndTimeUnixNano();
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
