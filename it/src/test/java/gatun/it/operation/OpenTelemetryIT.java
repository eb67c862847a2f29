// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static gatun.testing.TraceCollector.attributes;
import static gatun.testing.TraceCollector.events;
import static gatun.testing.TraceCollector.parent;
import static gatun.testing.TraceCollector.traceId;
import static gatun.testing.TraceCollector.within;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.TraceCollector;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces of the real server at an OpenTelemetry collector. */
@Timeout(120)
class OpenTelemetryIT {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String OVER_HTTP = "b7ad6b7169203331";
    private static final String OVER_GRPC = "00f067aa0ba902b7";

    private static ServerProcess launch(TraceCollector collector, String model, String... flags)
            throws InterruptedException {
        List<String> all = new ArrayList<>(List.of(
                "--model-control-mode=explicit",
                "--load-model=" + model,
                "--trace-config=level=TIMESTAMPS",
                "--trace-config=mode=opentelemetry",
                "--trace-config=opentelemetry,url=" + collector.url()));
        all.addAll(List.of(flags));
        return ServerProcess.launch(ServerProcess.exampleModels(), all.toArray(String[]::new));
    }

    private static String traceparent(String span) {
        return "00-" + TRACE + "-" + span + "-01";
    }

    private static void inferOverHttp(ServerProcess server, String... headers) {
        var request = SimpleModel.binary(server.http("/v2/models/simple/infer"));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try (HttpApi http = new HttpApi(server)) {
            assertThat(http.send(request, HttpResponse.BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void shouldSendTheRequestsOfClientsThatAskForIt() throws Exception {
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (ServerProcess server = launch(collector, "simple", "--trace-config=rate=0");
                    GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
                inferOverHttp(server);
                inferOverHttp(server, "traceparent", traceparent(OVER_HTTP));
                Metadata metadata = new Metadata();
                metadata.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), traceparent(OVER_GRPC));
                grpc.service()
                        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                        .modelInfer(SimpleModel.grpc());
            }
            List<Span> roots = collector.spans("InferRequest");

            assertThat(roots).hasSize(2).allSatisfy(root -> assertThat(traceId(root))
                    .isEqualTo(TRACE));
            assertThat(roots)
                    .filteredOn(root -> parent(root).equals(OVER_HTTP))
                    .singleElement()
                    .satisfies(root -> assertThat(events(root))
                            .containsExactly(
                                    "HTTP_RECV_START",
                                    "HTTP_RECV_END",
                                    "INFER_RESPONSE_COMPLETE",
                                    "HTTP_SEND_START",
                                    "HTTP_SEND_END"));
            assertThat(roots)
                    .filteredOn(root -> parent(root).equals(OVER_GRPC))
                    .singleElement()
                    .satisfies(root -> assertThat(events(root))
                            .containsExactly(
                                    "GRPC_WAITREAD_START",
                                    "GRPC_WAITREAD_END",
                                    "INFER_RESPONSE_COMPLETE",
                                    "GRPC_SEND_START",
                                    "GRPC_SEND_END"));
            assertThat(collector.spans("simple")).hasSize(2).allSatisfy(span -> {
                assertThat(events(span)).containsExactly("REQUEST_START", "QUEUE_START", "REQUEST_END");
                assertThat(roots).anyMatch(root -> within(span, root));
            });
            assertThat(collector.spans("compute")).hasSize(2).allSatisfy(span -> {
                assertThat(events(span))
                        .containsExactly("COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END");
                assertThat(collector.spans("simple")).anyMatch(request -> within(span, request));
            });
        }
    }

    @Test
    void shouldSendTheMembersOfAnEnsembleWithinIt() throws Exception {
        String ones = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (ServerProcess server = launch(collector, "simple_ensemble", "--trace-config=rate=1");
                    HttpApi http = new HttpApi(server)) {
                assertThat(http.post(
                                        "/v2/models/simple_ensemble/generate",
                                        "{\"id\":\"e\",\"INPUT0\":" + ones + ",\"INPUT1\":" + ones + "}")
                                .statusCode())
                        .isEqualTo(200);
            }
            Span root = collector.span("InferRequest");
            Span ensemble = collector.span("simple_ensemble");
            List<Span> members = collector.spans().stream()
                    .filter(span -> parent(span).equals(id(ensemble)))
                    .toList();

            assertThat(parent(root)).isEmpty();
            assertThat(within(ensemble, root)).isTrue();
            assertThat(members).isNotEmpty().allSatisfy(member -> {
                assertThat(within(member, ensemble)).isTrue();
                assertThat(events(member)).containsExactly("REQUEST_START", "QUEUE_START", "REQUEST_END");
                assertThat(attributes(member)).containsEntry("triton.request_id", "e");
            });
            assertThat(collector.spans("compute")).hasSameSizeAs(members).allSatisfy(compute -> assertThat(members)
                    .anyMatch(member -> within(compute, member)));
        }
    }

    @Test
    void shouldSendWhatABackendTellsOfARequest(@TempDir Path repository) throws Exception {
        Path model = Files.createDirectories(repository.resolve("told/1")).getParent();
        Files.writeString(model.resolve("config.pbtxt"), """
                backend: "identity"
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                parameters { key: "enable_custom_tracing" value { string_value: "true" } }
                parameters { key: "nested_span_count" value { string_value: "2" } }
                parameters { key: "single_activity_frequency" value { string_value: "2" } }
                """);
        try (TraceCollector collector = TraceCollector.answering(200)) {
            try (ServerProcess server = ServerProcess.launch(
                            repository,
                            "--trace-config=level=TIMESTAMPS",
                            "--trace-config=rate=1",
                            "--trace-config=mode=opentelemetry",
                            "--trace-config=opentelemetry,url=" + collector.url());
                    HttpApi http = new HttpApi(server)) {
                assertThat(http.post("/v2/models/told/generate", "{\"IN\":[1]}").statusCode())
                        .isEqualTo(200);
            }
            Span request = collector.span("told");
            Span outer = collector.span("CUSTOM_ACTIVITY0");
            Span inner = collector.span("CUSTOM_ACTIVITY1");

            assertThat(events(request))
                    .containsExactly("REQUEST_START", "QUEUE_START", "CUSTOM_SINGLE_ACTIVITY", "REQUEST_END");
            assertThat(events(collector.span("CUSTOM_ACTIVITY")))
                    .containsExactly("CUSTOM_ACTIVITY_START", "CUSTOM_ACTIVITY_END");
            assertThat(within(collector.span("CUSTOM_ACTIVITY"), request)).isTrue();
            assertThat(events(outer))
                    .containsExactly("CUSTOM_ACTIVITY0_START", "CUSTOM_SINGLE_ACTIVITY", "CUSTOM_ACTIVITY0_END");
            assertThat(within(outer, request)).isTrue();
            assertThat(events(inner)).containsExactly("CUSTOM_ACTIVITY1_START", "CUSTOM_ACTIVITY1_END");
            assertThat(within(inner, outer)).isTrue();
        }
    }

    private static String id(Span span) {
        return HexFormat.of().formatHex(span.getSpanId().toByteArray());
    }

    @Test
    void shouldServeOnWhileTheCollectorIsGone() throws Exception {
        TraceCollector collector = TraceCollector.answering(200);
        collector.close();
        String log;
        try (ServerProcess server = launch(
                collector, "simple", "--trace-config=rate=1", "--trace-config=opentelemetry,bsp_schedule_delay=1")) {
            inferOverHttp(server);
            inferOverHttp(server);
            server.terminate();
            assertThat(server.awaitExit(Duration.ofSeconds(45))).isZero();
            log = server.log();
        }
        assertThat(log.lines().filter(line -> line.contains("cannot be sent"))).hasSizeLessThanOrEqualTo(1);
        assertThat(log).contains("6 spans of traces were not sent to " + collector.url());
    }

    @Test
    void shouldRefuseSettingsThatContradictEachOther() {
        try (ServerProcess server = ServerProcess.run(
                        "serve",
                        "--model-repository=" + ServerProcess.exampleModels(),
                        "--trace-config=mode=opentelemetry",
                        "--trace-config=opentelemetry,bsp_max_queue_size=9",
                        "--trace-config=opentelemetry,bsp_max_export_batch_size=10")
                .expectErrors()) {
            assertThat(server.log()).contains("bsp_max_export_batch_size=10 is more than may wait");
        }
        try (ServerProcess server = ServerProcess.run(
                        "serve",
                        "--model-repository=" + ServerProcess.exampleModels(),
                        "--trace-config=triton,file=/tmp/t",
                        "--trace-config=level=TIMESTAMPS",
                        "--trace-config=rate=0")
                .expectErrors()) {
            assertThat(server.log()).contains("--trace-config=rate=0 traces the requests of clients that ask for it");
        }
    }
}
