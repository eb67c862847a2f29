// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses that are longer than the window that they go through. */
class LongResponseTest {
    private static final int COUNT = 50_000;
    private static final String NUMBERS =
            IntStream.range(0, COUNT).mapToObj(Integer::toString).collect(Collectors.joining(","));
    private static final String SHAPE = "\"datatype\":\"INT32\",\"shape\":[" + COUNT + "]";
    private static final String ANSWER = "{\"model_name\":\"long\",\"model_version\":\"1\",\"outputs\":["
            + "{\"name\":\"OUT0\"," + SHAPE + ",\"data\":[" + NUMBERS + "]}]}";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "long", 0, "TYPE_INT32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "two", 0, "TYPE_INT32 [ -1 ]", "TYPE_INT32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "mixed", 0, "TYPE_INT32 [ -1 ]", "TYPE_FP16 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "text", 0, "TYPE_STRING [ -1 ]");
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

    @Test
    void shouldComeInChunks() {
        HttpResponse<String> response = edge.post("/v2/models/long/infer", "{\"inputs\":[" + input("IN0") + "]}");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Transfer-Encoding")).hasValue("chunked");
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(response.body()).isEqualTo(ANSWER);
    }

    @Test
    void shouldEndWithTheConnectionOfOldHttp() {
        String body = "{\"inputs\":[" + input("IN0") + "]}";
        try (RawClient client = new RawClient(edge.port())) {
            client.send("POST /v2/models/long/infer HTTP/1.0\r\nHost: x\r\nContent-Length: " + body.length()
                    + "\r\n\r\n" + body);
            assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
            for (String line = client.line(); !line.isEmpty(); line = client.line()) {
                assertThat(line).doesNotContainIgnoringCase("transfer-encoding").doesNotContain("Content-Length");
            }
            ByteArrayOutputStream response = new ByteArrayOutputStream();
            for (int next = client.readByte(); next >= 0; next = client.readByte()) {
                response.write(next);
            }
            assertThat(response.toString(StandardCharsets.UTF_8)).isEqualTo(ANSWER);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "deflate"})
    void shouldBeCompressedOnTheWay(String coding) throws IOException {
        HttpRequest request = edge.request("/v2/models/long/infer")
                .header("Accept-Encoding", coding)
                .POST(HttpRequest.BodyPublishers.ofString("{\"inputs\":[" + input("IN0") + "]}"))
                .build();

        HttpResponse<byte[]> response = edge.send(request, HttpResponse.BodyHandlers.ofByteArray());

        assertThat(response.headers().firstValue("Content-Encoding")).hasValue(coding);
        assertThat(new String(decompressed(coding, response.body()), StandardCharsets.UTF_8))
                .isEqualTo(ANSWER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"identity", "gzip"})
    void shouldTellTheLengthOfTheJsonInFrontOfTensors(String coding) throws IOException {
        HttpRequest request = edge.request("/v2/models/two/infer")
                .header("Accept-Encoding", coding)
                .POST(
                        HttpRequest.BodyPublishers.ofString(
                                "{\"inputs\":[" + input("IN0") + "," + input("IN1")
                                        + "],\"outputs\":[{\"name\":\"OUT0\"},{\"name\":\"OUT1\",\"parameters\":{\"binary_data\":true}}]}"))
                .build();

        HttpResponse<byte[]> response = edge.send(request, HttpResponse.BodyHandlers.ofByteArray());

        byte[] body = decompressed(coding, response.body());
        int jsonLength = Integer.parseInt(
                response.headers().firstValue("Inference-Header-Content-Length").orElseThrow());
        assertThat(body).hasSize(jsonLength + 4 * COUNT);
        assertThat(new String(body, 0, jsonLength, StandardCharsets.UTF_8))
                .contains("[" + NUMBERS + "]")
                .endsWith("\"parameters\":{\"binary_data_size\":" + 4 * COUNT + "}}]}");
        ByteBuffer tensor = ByteBuffer.wrap(body, jsonLength, 4 * COUNT).slice().order(ByteOrder.LITTLE_ENDIAN);
        assertThat(tensor.getInt(4 * (COUNT - 1))).isEqualTo(COUNT - 1);
    }

    @Test
    void shouldRefuseAnOutputWithoutAFormBeforeAnythingIsSent() {
        String json = "{\"inputs\":[" + input("IN0")
                + ",{\"name\":\"IN1\",\"datatype\":\"FP16\",\"shape\":[2],\"parameters\":{\"binary_data_size\":4}}]}";
        HttpRequest mixed = edge.request("/v2/models/mixed/infer")
                .header("Inference-Header-Content-Length", Integer.toString(json.length()))
                .POST(HttpRequest.BodyPublishers.ofString(json + "1234"))
                .build();

        HttpResponse<String> response = edge.send(mixed);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("sending FP16 data via JSON is not supported");
    }

    @ParameterizedTest
    @ValueSource(strings = {"generate", "generate_stream"})
    void shouldGenerateTextsOfAnyLength(String path) {
        String text = "a\\u00e9\\n\\\"".repeat(20_000);

        HttpResponse<String> response = edge.post("/v2/models/text/" + path, "{\"IN0\":\"" + text + "\"}");

        String event = path.equals("generate") ? "" : "data: ";
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body())
                .isEqualTo(event + "{\"OUT0\":\"" + "aé\\n\\\"".repeat(20_000)
                        + "\",\"model_name\":\"text\",\"model_version\":\"1\"}" + (event.isEmpty() ? "" : "\n\n"));
    }

    private static String input(String name) {
        return "{\"name\":\"" + name + "\"," + SHAPE + ",\"data\":[" + NUMBERS + "]}";
    }

    private static byte[] decompressed(String coding, byte[] bytes) throws IOException {
        InputStream source = new ByteArrayInputStream(bytes);
        try (InputStream plain =
                switch (coding) {
                    case "gzip" -> new GZIPInputStream(source);
                    case "deflate" -> new InflaterInputStream(source);
                    default -> source;
                }) {
            return plain.readAllBytes();
        }
    }
}
