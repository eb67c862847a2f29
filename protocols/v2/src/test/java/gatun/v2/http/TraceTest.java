// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceTest {
    private static final String INFER =
            "{\"id\":\"q\",\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[2],\"data\":[1,2]}]}";

    @TempDir
    Path repository;

    private ListenerUnderTest edge;

    @BeforeEach
    void start() {
        ListenerUnderTest.writeModel(repository, "m", 0, "TYPE_INT32 [ 2 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterEach
    void stop() {
        edge.close();
    }

    private static String settings(String level, String rate, String count) {
        return "{\"trace_level\":[" + level + "],\"trace_rate\":\"" + rate + "\",\"trace_count\":\"" + count
                + "\",\"log_frequency\":\"0\",\"trace_file\":\"";
    }

    @Test
    void shouldTellAndChangeTheSettings() {
        assertThat(edge.get("/v2/trace/setting").body()).startsWith(settings("\"OFF\"", "1000", "-1"));
        HttpResponse<String> changed = edge.post(
                "/v2/trace/setting",
                "{\"trace_level\":[\"TIMESTAMPS\",\"TENSORS\"],\"trace_rate\":\"5\",\"trace_count\":\"7\",\"x\":null}");
        assertThat(changed.statusCode()).isEqualTo(200);
        assertThat(changed.body()).startsWith(settings("\"TIMESTAMPS\",\"TENSORS\"", "5", "7"));
        assertThat(edge.post("/v2/trace/setting", "{\"x\":1,\"y\":{},\"trace_rate\":\"5\",\"trace_rate\":6}")
                        .body())
                .isEqualTo(changed.body());
        assertThat(edge.post("/v2/models/m/trace/setting", "{\"trace_level\":\"OFF\"}")
                        .body())
                .startsWith(settings("\"OFF\"", "5", "7"));
        assertThat(edge.get("/v2/trace/setting").body()).isEqualTo(changed.body());
        assertThat(edge.post("/v2/trace/setting", "{\"trace_rate\":null}").body())
                .startsWith(settings("\"TIMESTAMPS\",\"TENSORS\"", "1000", "7"));
    }

    @Test
    void shouldRefuseWhatCannotBeSet() {
        assertThat(edge.post("/v2/trace/setting", "{\"trace_file\":\"/tmp/x\"}").statusCode())
                .isEqualTo(501);
        assertThat(edge.post("/v2/trace/setting", "{\"trace_rate\":5}").body())
                .isEqualTo("{\"error\":\"attempt to access JSON non-string as string\"}");
        assertThat(edge.post("/v2/trace/setting", "{\"trace_count\":\"-2\"}").body())
                .isEqualTo("{\"error\":\"Unable to parse 'trace_count'. Expecting value >= -1, got:-2\"}");
        assertThat(edge.get("/v2/models/none/trace/setting").statusCode()).isEqualTo(400);
        assertThat(edge.post("/v2/models/none/trace/setting", "{}").body())
                .isEqualTo("{\"error\":\"Request for unknown model : none\"}");
        assertThat(edge.get("/v2/models/m/versions/1/trace/setting").body()).isEqualTo("{\"error\":\"Not Found\"}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"infer", "generate", "generate_stream"})
    void shouldWriteTheTraceOfARequestThatCannotBeRead(String path) throws IOException {
        try (ListenerUnderTest closed = V2TestServer.start(repository)) {
            closed.post("/v2/trace/setting", "{\"trace_level\":[\"TIMESTAMPS\"],\"trace_rate\":\"1\"}");
            assertThat(closed.post("/v2/models/m/" + path, "no JSON").statusCode())
                    .isEqualTo(400);
        }

        assertThat(Files.readString(ListenerUnderTest.traceFile(repository)))
                .contains("{\"id\":1,\"model_name\":\"m\",\"model_version\":1}", "HTTP_RECV_START")
                .doesNotContain("HTTP_RECV_END");
    }

    @Test
    void shouldWriteWhatBecameOfARequest() throws IOException {
        try (ListenerUnderTest closed = V2TestServer.start(repository)) {
            closed.post("/v2/models/m/infer", INFER);
            closed.post(
                    "/v2/trace/setting",
                    "{\"trace_level\":[\"TIMESTAMPS\"],\"trace_rate\":\"1\",\"trace_count\":\"1\"}");
            closed.post("/v2/models/m/infer", INFER);
            closed.post("/v2/models/m/infer", INFER);
        }

        // The file of a limited number of traces.
        List<String> lines = Files.readAllLines(Path.of(ListenerUnderTest.traceFile(repository) + ".0"));
        assertThat(lines.get(1)).isEqualTo("{\"id\":1,\"model_name\":\"m\",\"model_version\":1,\"request_id\":\"q\"},");
        assertThat(lines.subList(2, lines.size() - 1))
                .extracting(line -> line.replaceAll(".*\"name\":\"(\\w+)\".*", "$1"))
                .containsExactly(
                        "HTTP_RECV_START",
                        "HTTP_RECV_END",
                        "REQUEST_START",
                        "QUEUE_START",
                        "COMPUTE_START",
                        "COMPUTE_INPUT_END",
                        "COMPUTE_OUTPUT_START",
                        "COMPUTE_END",
                        "REQUEST_END",
                        "INFER_RESPONSE_COMPLETE",
                        "HTTP_SEND_START",
                        "HTTP_SEND_END");
        assertThat(lines.subList(2, lines.size() - 1))
                .extracting(line -> Long.parseLong(line.replaceAll(".*\"ns\":(\\d+).*", "$1")))
                .isSorted();
    }
}
