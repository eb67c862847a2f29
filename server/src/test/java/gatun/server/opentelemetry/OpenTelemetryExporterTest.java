// SPDX-License-Identifier: Apache-2.0
package gatun.server.opentelemetry;

import static gatun.testing.TraceCollector.attributes;
import static gatun.testing.TraceCollector.events;
import static gatun.testing.TraceCollector.parent;
import static gatun.testing.TraceCollector.traceId;
import static gatun.testing.TraceCollector.within;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.runtime.tracing.TraceSettings;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import gatun.runtime.tracing.Tracing;
import gatun.testing.Await;
import gatun.testing.TraceCollector;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OpenTelemetryExporterTest {
    private static final String CLIENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    private static final String NOBODY = "";

    private static Tracing tracing(CollectorSettings collector) {
        return new Tracing(
                new TraceSettings(Set.of(TraceLevel.TIMESTAMPS), 1, TraceSettings.UNLIMITED, 0),
                OpenTelemetryExporter.to(collector));
    }

    private static Tracing tracing(URI url) {
        return tracing(CollectorSettings.STANDARD.withUrl(url.toString()).withResource("test.key", "test.value"));
    }

    private static RequestTrace begin(Tracing tracing, String model, String traceparent) {
        return tracing.begin(model, 3, traceparent, Optional::of).orElseThrow();
    }

    private static void reach(RequestTrace trace, TraceStage... stages) {
        for (TraceStage stage : stages) {
            trace.reached(stage);
        }
    }

    private static void trace(Tracing tracing, String model) {
        RequestTrace trace = begin(tracing, model, NOBODY);
        reach(trace, TraceStage.HTTP_RECV_START, TraceStage.REQUEST_START, TraceStage.REQUEST_END);
        trace.end();
    }

    @Test
    void shouldSendThreeSpansForARequestAsPartsOfTheClientsTrace() {
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (Tracing tracing = tracing(collector.url())) {
                RequestTrace trace = begin(tracing, "m", CLIENT);
                reach(trace, TraceStage.HTTP_RECV_START, TraceStage.HTTP_RECV_END);
                trace.started("r", List.of());
                reach(trace, TraceStage.QUEUE_START, TraceStage.COMPUTE_START, TraceStage.COMPUTE_END);
                reach(trace, TraceStage.REQUEST_END, TraceStage.HTTP_SEND_START, TraceStage.HTTP_SEND_END);
                trace.end();
            }
            Span edge = collector.span("InferRequest");
            Span request = collector.span("m");
            Span compute = collector.span("compute");

            assertThat(collector.spans()).hasSize(3);
            assertThat(traceId(edge)).isEqualTo("0af7651916cd43dd8448eb211c80319c");
            assertThat(parent(edge)).isEqualTo("b7ad6b7169203331");
            assertThat(within(request, edge)).isTrue();
            assertThat(within(compute, request)).isTrue();
            assertThat(events(edge))
                    .containsExactly("HTTP_RECV_START", "HTTP_RECV_END", "HTTP_SEND_START", "HTTP_SEND_END");
            assertThat(events(request)).containsExactly("REQUEST_START", "QUEUE_START", "REQUEST_END");
            assertThat(events(compute)).containsExactly("COMPUTE_START", "COMPUTE_END");
            assertThat(attributes(request))
                    .containsEntry("triton.model_name", "m")
                    .containsEntry("triton.model_version", "3")
                    .containsEntry("triton.trace_id", "1")
                    .containsEntry("triton.trace_parent_id", "0")
                    .containsEntry("triton.request_id", "r")
                    .hasSize(5);
            assertThat(collector.resource())
                    .containsEntry("service.name", "triton-inference-server")
                    .containsEntry("test.key", "test.value");
        }
    }

    @Test
    void shouldHangTheRequestsOfAnEnsembleUnderItsOwn() {
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (Tracing tracing = tracing(collector.url())) {
                RequestTrace ensemble = begin(tracing, "whole", "00-not-a-traceparent");
                reach(ensemble, TraceStage.REQUEST_START);
                RequestTrace member = ensemble.child("part", 1);
                reach(member, TraceStage.REQUEST_START, TraceStage.COMPUTE_START, TraceStage.COMPUTE_END);
                member.end();
                reach(ensemble, TraceStage.REQUEST_END);
                ensemble.end();
            }
            Span root = collector.span("InferRequest");

            assertThat(parent(root)).isEmpty();
            assertThat(within(collector.span("whole"), root)).isTrue();
            assertThat(within(collector.span("part"), collector.span("whole"))).isTrue();
            assertThat(within(collector.span("compute"), collector.span("part")))
                    .isTrue();
            assertThat(attributes(collector.span("part"))).containsEntry("triton.trace_parent_id", "1");
        }
    }

    @Test
    void shouldTellTheTimeOfDay() {
        long beforeMillis = System.currentTimeMillis();
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (Tracing tracing = tracing(collector.url())) {
                trace(tracing, "m");
            }
            assertThat(Duration.ofNanos(collector.span("m").getStartTimeUnixNano())
                            .toMillis())
                    .isBetween(beforeMillis - 60_000, System.currentTimeMillis() + 60_000);
        }
    }

    @Test
    void shouldDropTracesWholeWhenTooManySpansWait() {
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (Tracing tracing = tracing(CollectorSettings.STANDARD
                    .withUrl(collector.url().toString())
                    .withScheduleDelay(Duration.ofHours(1))
                    .withMaxQueueSize(5)
                    .withMaxBatchSize(5))) {
                trace(tracing, "a");
                trace(tracing, "b");
                trace(tracing, "c");
            }
            assertThat(collector.spans()).extracting(Span::getName).containsOnly("a", "b", "InferRequest");
            assertThat(collector.spans()).hasSize(4);
        }
    }

    @Test
    void shouldSendAtOnceWhereSpansNeedNotWait() {
        try (TraceCollector collector = TraceCollector.answering(200);
                Tracing tracing = tracing(CollectorSettings.STANDARD
                        .withUrl(collector.url().toString())
                        .withScheduleDelay(Duration.ZERO))) {
            assertThat(tracing.settings("")).containsEntry("bsp_schedule_delay", List.of("0"));
            trace(tracing, "m");
            Await.until("the spans", () -> collector.spans().size() == 2);
        }
    }

    @Test
    void shouldTellTheAddressAsTheOperatorWroteIt() {
        try (TraceCollector collector = TraceCollector.answering(200)) {
            String url = collector.url().getAuthority() + collector.url().getPath();
            try (Tracing tracing = tracing(CollectorSettings.STANDARD.withUrl(url))) {
                assertThat(tracing.settings("")).containsEntry("url", List.of(url));
                trace(tracing, "m");
            }
            assertThat(collector.span("m")).isNotNull();
        }
    }

    @Test
    void shouldEndThoughTheCollectorRefuses() {
        try (TraceCollector collector = TraceCollector.answering(400)) {
            Tracing tracing = tracing(collector.url());
            trace(tracing, "m");
            tracing.close();

            assertThat(collector.span("m")).isNotNull();
        }
    }

    @Test
    void shouldEndThoughThereIsNoCollector() {
        URI nowhere;
        try (TraceCollector gone = TraceCollector.answering(200)) {
            nowhere = gone.url();
        }
        Tracing tracing = tracing(nowhere);
        trace(tracing, "m");
        long begun = System.nanoTime();
        tracing.close();

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void shouldTellWhereTracesGo() {
        try (Tracing tracing = tracing(URI.create("http://localhost:1/v1/traces"))) {
            assertThat(tracing.settings(""))
                    .containsEntry("trace_mode", List.of("opentelemetry"))
                    .containsEntry("url", List.of("http://localhost:1/v1/traces"))
                    .containsEntry("bsp_max_queue_size", List.of("2048"))
                    .containsEntry("bsp_schedule_delay", List.of("5000"))
                    .containsEntry("bsp_max_export_batch_size", List.of("512"))
                    .doesNotContainKeys("log_frequency", "trace_file");
        }
    }
}
