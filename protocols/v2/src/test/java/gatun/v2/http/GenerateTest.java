// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GenerateTest {
    private static final String REPEAT = """
            backend: "repeat"
            model_transaction_policy { decoupled: true }
            input [
              { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
              { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
              { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] }
            ]
            output [
              { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
              { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] }
            ]
            """;

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) throws IOException {
        ListenerUnderTest.writeModel(repository, "text", 0, "TYPE_STRING [ 1 ]", "TYPE_INT32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "grid", 8, "TYPE_FP32 [ -1, 2 ]");
        ListenerUnderTest.writeModel(repository, "half", 0, "TYPE_FP16 [ 1 ]");
        ListenerUnderTest.writeModel(repository, "flag", 0, "TYPE_BOOL [ 1 ]");
        Files.createDirectories(repository.resolve("repeat").resolve("1"));
        Files.writeString(repository.resolve("repeat").resolve("config.pbtxt"), REPEAT);
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.awaitNothingLent();
    }

    private static String repeat(int count, int delayMillis) {
        return "{\"IN\":" + Collections.nCopies(count, 7) + ",\"DELAY\":" + Collections.nCopies(count, delayMillis)
                + ",\"parameters\":{\"WAIT\":0}}";
    }

    @Test
    void shouldTakeMembersAsInputsAndAnswerOutputsByName() {
        HttpResponse<String> response =
                edge.post("/v2/models/text/generate", "{\"id\":\"a\",\"IN0\":\"say \\u00e9\",\"IN1\":[1,-2]}");

        assertThat(response.body())
                .isEqualTo("{\"OUT0\":\"say é\",\"OUT1\":[1,-2],\"id\":\"a\",\"model_name\":\"text\","
                        + "\"model_version\":\"1\"}");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    }

    @Test
    void shouldTakeNestedParametersAndLeaveOthersToTheBackend() {
        HttpResponse<String> response = edge.post(
                "/v2/models/text/versions/1/generate",
                "{\"parameters\":{\"IN1\":3,\"temperature\":0.5},\"IN0\":[\"x\"],\"stream\":false,\"stream\":true}");

        assertThat(response.body())
                .isEqualTo("{\"OUT0\":\"x\",\"OUT1\":3,\"model_name\":\"text\",\"model_version\":\"1\"}");
    }

    @Test
    void shouldGiveTheInnermostVariableDimensionWhatTheFixedOnesLeave() {
        assertThat(edge.post("/v2/models/grid/generate", "{\"IN0\":[1,2,3,4,5,6]}")
                        .body())
                .startsWith("{\"OUT0\":[1.0,2.0,3.0,4.0,5.0,6.0],");
        HttpResponse<String> odd = edge.post("/v2/models/grid/generate", "{\"IN0\":[1,2,3]}");
        assertThat(odd.statusCode()).isEqualTo(400);
        assertThat(odd.body())
                .isEqualTo(
                        "{\"error\":\"The schema can not convert input 'IN0' to tensor with proper shape: its shape is"
                                + " [-1,-1,2], got 3 elements\"}");
    }

    @Test
    void shouldReadABareTrueAsATensor() {
        assertThat(edge.post("/v2/models/flag/generate", "{\"IN0\":true}").body())
                .isEqualTo("{\"OUT0\":true,\"model_name\":\"flag\",\"model_version\":\"1\"}");
    }

    @Test
    void shouldRefuseWhatCannotBeConverted() {
        assertThat(edge.post("/v2/models/text/generate", "{\"IN0\":1,\"IN1\":1}")
                        .body())
                .isEqualTo("{\"error\":\"Unable to parse 'data': attempt to access JSON non-string as string\"}");
        assertThat(edge.post("/v2/models/text/generate", "{\"parameters\":1}").body())
                .isEqualTo("{\"error\":\"Expected JSON object for keyword: 'parameters':"
                        + " attempt to access JSON non-object as object\"}");
        assertThat(edge.post("/v2/models/text/generate", "{\"parameters\":{\"nested\":{\"twice\":1}}}")
                        .body())
                .contains("Converting keyword: 'parameters': parameter 'nested' has invalid type.");
        assertThat(edge.post("/v2/models/text/generate", "{\"IN0\":\"a\",\"IN1\":1,\"IN1\":2,\"IN0\":\"b\"}")
                        .body())
                .isEqualTo("{\"error\":\"[request id: <id_unknown>] input 'IN1' already exists in request\"}");
        assertThat(edge.post("/v2/models/text/generate", "{\"extra\":{}}").body())
                .contains("parameter 'extra' has invalid type");
        assertThat(edge.post("/v2/models/text/generate", "{\"id\":7}").body())
                .isEqualTo("{\"error\":\"Unable to parse 'id': attempt to access JSON non-string as string\"}");
        assertThat(edge.post("/v2/models/text/generate", "{\"id\":7,\"IN0\":}").body())
                .isEqualTo("{\"error\":\"failed to parse the request JSON buffer: Invalid value. at 14\"}");
        assertThat(edge.post("/v2/models/half/generate", "{\"IN0\":1}").body())
                .contains("receiving FP16 data via JSON is not supported");
        HttpResponse<String> packed = edge.send(edge.request("/v2/models/text/generate")
                .header("Content-Encoding", "gzip")
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build());
        assertThat(packed.body())
                .isEqualTo("{\"error\":\"Unsupported content-encoding, only 'identity' is supported.\"}");
        assertThat(packed.statusCode()).isEqualTo(400);
    }

    @Test
    void shouldReportTheLoadToThoseWhoAskForIt() {
        assertThat(loadReport("text")).hasValueSatisfying(report -> assertThat(report)
                .matches("TEXT named_metrics.pending_request_count=0,"
                        + " named_metrics.buffer_pool_utilization=0.\\d{6}"));
        assertThat(loadReport("json")).hasValueSatisfying(report -> assertThat(report)
                .matches("JSON \\{\"named_metrics\":\\{\"pending_request_count\":0,"
                        + "\"buffer_pool_utilization\":\\d[-\\d.e]*}}"));
        assertThat(loadReport("xml")).isEmpty();
        assertThat(edge.post("/v2/models/flag/generate", "{\"IN0\":true}")
                        .headers()
                        .firstValue("endpoint-load-metrics"))
                .isEmpty();
    }

    private static Optional<String> loadReport(String format) {
        HttpResponse<String> response = edge.send(edge.request("/v2/models/flag/generate")
                .header("endpoint-load-metrics-format", format)
                .POST(HttpRequest.BodyPublishers.ofString("{\"IN0\":true}"))
                .build());
        assertThat(response.statusCode()).isEqualTo(200);
        return response.headers().firstValue("endpoint-load-metrics");
    }

    @Test
    void shouldAnswerAFailureBeforeTheRunAsAFailureAlsoToAStream() {
        HttpResponse<String> unknown = edge.post("/v2/models/none/generate_stream", "{}");
        assertThat(unknown.statusCode()).isEqualTo(404);
        HttpResponse<String> incomplete = edge.post("/v2/models/text/generate_stream", "{\"IN0\":\"x\"}");
        assertThat(incomplete.statusCode()).isEqualTo(400);
        assertThat(incomplete.body()).startsWith("{\"error\":\"[request id: <id_unknown>] expected 2 inputs but got 1");
    }

    @Test
    void shouldSendAnEventForEachResponse() {
        HttpResponse<String> response = edge.post("/v2/models/repeat/generate_stream", repeat(3, 1));

        assertThat(response.body().split("(?<=\n\n)"))
                .containsExactly(
                        "data: {\"IDX\":0,\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}\n\n",
                        "data: {\"IDX\":1,\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}\n\n",
                        "data: {\"IDX\":2,\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}\n\n");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("text/event-stream; charset=utf-8");
        assertThat(response.headers().firstValue("Transfer-Encoding")).hasValue("chunked");
    }

    @Test
    void shouldSendEveryEventAsItComesAndGoOnWithTheNextRequest() {
        try (RawClient client = new RawClient(edge.port())) {
            String body = "{\"IN\":[1,2],\"DELAY\":[0,300],\"WAIT\":0}";
            client.sendLines("POST /v2/models/repeat/generate_stream HTTP/1.1\nHost: h\nContent-Length: "
                    + body.length() + "\n\n");
            client.send(body);
            assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
            awaitLine(client, "data: {\"IDX\":0,\"OUT\":1,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
            long first = System.nanoTime();
            awaitLine(client, "data: {\"IDX\":1,\"OUT\":2,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
            assertThat(System.nanoTime() - first).isGreaterThan(100_000_000);
            awaitLine(client, "0");
            assertThat(client.line()).isEmpty();
            client.sendLines("GET /v2/health/live HTTP/1.1\nHost: h\n\n");
            assertThat(client.read().status()).isEqualTo(200);
        }
    }

    @Test
    void shouldAnswerOneResponseOfANormalModelAsAStreamToo() {
        assertThat(edge.post("/v2/models/flag/generate_stream", "{\"IN0\":false}")
                        .body())
                .isEqualTo("data: {\"OUT0\":false,\"model_name\":\"flag\",\"model_version\":\"1\"}\n\n");
    }

    @Test
    void shouldEndAStreamWithoutResponses() {
        HttpResponse<String> response = edge.post("/v2/models/repeat/generate_stream", repeat(0, 0));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
    }

    @Test
    void shouldRefuseToAnswerManyResponsesAtOnce() {
        for (int count : new int[] {0, 2}) {
            HttpResponse<String> response = edge.post("/v2/models/repeat/generate", repeat(count, 0));
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(response.body()).contains("generate expects model to produce exactly 1 response");
        }
        assertThat(edge.post("/v2/models/repeat/generate", repeat(1, 0)).body())
                .isEqualTo("{\"IDX\":0,\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
    }

    @Test
    void shouldTellAFailureOfTheRunInTheStream() {
        HttpResponse<String> response =
                edge.post("/v2/models/repeat/generate_stream", "{\"IN\":[1,2],\"DELAY\":[1],\"WAIT\":0}");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("text/event-stream; charset=utf-8");
        assertThat(response.body())
                .isEqualTo(
                        "data: {\"error\":\"expected IN and DELAY shape to match, got [2] and [1]; give one delay for each"
                                + " element\"}\n\n");
    }

    @Test
    void shouldStopTheRunOfAClientThatLeavesAmidstTheStream() {
        try (RawClient client = new RawClient(edge.port())) {
            String body = "{\"IN\":[1,2],\"DELAY\":[0,3000000],\"WAIT\":0}";
            client.sendLines("POST /v2/models/repeat/generate_stream HTTP/1.1\nHost: h\nContent-Length: "
                    + body.length() + "\n\n");
            client.send(body);
            awaitLine(client, "data: {\"IDX\":0,\"OUT\":1,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
            client.reset();
        }
        // The model has one instance, which only answers when the run above has ended.
        assertThat(edge.post("/v2/models/repeat/generate_stream", repeat(1, 0)).body())
                .startsWith("data: {\"IDX\":0");
    }

    @Test
    void shouldLetTheModelWaitForAClientThatReadsSlowly() {
        int count = 100_000;
        String body = repeat(count, 0).replace(" ", "");
        try (RawClient client = new RawClient(edge.port())) {
            client.sendLines("POST /v2/models/repeat/generate_stream HTTP/1.1\nHost: h\nContent-Length: "
                    + body.length() + "\n\n");
            client.send(body);
            awaitLine(client, "data: {\"IDX\":0,\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
            for (int i = 0; i < 20; i++) {
                assertThat(edge.post("/v2/models/flag/generate", "{\"IN0\":true}")
                                .statusCode())
                        .isEqualTo(200);
                assertThat(edge.buffers().usedBytes()).isLessThan(4L << 20);
            }
            awaitLine(
                    client,
                    "data: {\"IDX\":" + (count - 1) + ",\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
        }
    }

    @Test
    void shouldEndAStreamToAClientThatKnowsNoChunksByEndingTheConnection() {
        for (int count = 0; count < 3; count++) {
            try (RawClient client = new RawClient(edge.port())) {
                String body = repeat(count, 0);
                client.sendLines(
                        "POST /v2/models/repeat/generate_stream HTTP/1.0\nContent-Length: " + body.length() + "\n\n");
                client.send(body);
                assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
                List<String> head = new ArrayList<>();
                for (String line = client.line(); !line.isEmpty(); line = client.line()) {
                    head.add(line);
                }
                assertThat(head).contains("Connection: close").noneMatch(line -> line.startsWith("Transfer-Encoding"));
                for (int i = 0; i < count; i++) {
                    assertThat(client.line())
                            .isEqualTo("data: {\"IDX\":" + i
                                    + ",\"OUT\":7,\"model_name\":\"repeat\",\"model_version\":\"1\"}");
                    assertThat(client.line()).isEmpty();
                }
                assertThat(client.readByte()).isEqualTo(-1);
            }
        }
    }

    private static void awaitLine(RawClient client, String expected) {
        String line = client.line();
        while (!line.equals(expected)) {
            line = client.line();
        }
    }
}
