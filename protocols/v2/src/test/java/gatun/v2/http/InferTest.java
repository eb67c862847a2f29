// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InferTest {
    private static final String ANY =
            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1,2]}]}";
    private static final String ANY_ANSWER = "{\"model_name\":\"any\",\"model_version\":\"1\",\"outputs\":["
            + "{\"name\":\"OUT0\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1.0,2.0]}]}";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "pair", 8, "TYPE_INT32 [ 4 ]", "TYPE_FP32 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "any", 0, "TYPE_FP32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "odd", 0, "TYPE_UINT8 [ 3 ]", "TYPE_FP64 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "strings", 0, "TYPE_STRING [ -1, 2 ]");
        ListenerUnderTest.writeModel(repository, "string", 4, "TYPE_STRING [ 1 ]");
        ListenerUnderTest.writeModel(repository, "one", 0, "TYPE_STRING [ 1, 1, 1 ]");
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
    void shouldAnswerJsonWithJson() {
        HttpResponse<String> response = edge.post("/v2/models/pair/infer", """
                {"id":"7","inputs":[
                  {"name":"IN0","datatype":"INT32","shape":[1,4],"data":[1,-2,3,2147483647]},
                  {"name":"IN1","datatype":"FP32","shape":[1,2],"data":[[1.5],[1.1]]}]}""");

        assertThat(response.body())
                .isEqualTo(
                        "{\"id\":\"7\",\"model_name\":\"pair\",\"model_version\":\"1\",\"outputs\":["
                                + "{\"name\":\"OUT0\",\"datatype\":\"INT32\",\"shape\":[1,4],\"data\":[1,-2,3,2147483647]},"
                                + "{\"name\":\"OUT1\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1.5,1.100000023841858]}]}");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    }

    @Test
    void shouldAnswerBytesWithBytes() {
        String json = "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[1,4],"
                + "\"parameters\":{\"binary_data_size\":16}},"
                + "{\"name\":\"IN1\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}],"
                + "\"outputs\":[{\"name\":\"OUT1\",\"parameters\":{\"binary_data\":true}},{\"name\":\"OUT0\","
                + "\"parameters\":{\"binary_data\":true}}]}";
        ByteBuffer body = ByteBuffer.allocate(json.length() + 16).order(ByteOrder.LITTLE_ENDIAN);
        body.put(json.getBytes(StandardCharsets.UTF_8))
                .putInt(10)
                .putInt(20)
                .putInt(30)
                .putInt(40);

        HttpResponse<byte[]> response = edge.send(
                edge.request("/v2/models/pair/versions/1/infer")
                        .header("Inference-Header-Content-Length", String.valueOf(json.length()))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body.array()))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());

        int headerLength = Integer.parseInt(
                response.headers().firstValue("Inference-Header-Content-Length").orElseThrow());
        ByteBuffer bytes = ByteBuffer.wrap(response.body()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(new String(response.body(), 0, headerLength, StandardCharsets.UTF_8))
                .isEqualTo("{\"model_name\":\"pair\",\"model_version\":\"1\",\"outputs\":["
                        + "{\"name\":\"OUT1\",\"datatype\":\"FP32\",\"shape\":[1,2],"
                        + "\"parameters\":{\"binary_data_size\":8}},"
                        + "{\"name\":\"OUT0\",\"datatype\":\"INT32\",\"shape\":[1,4],"
                        + "\"parameters\":{\"binary_data_size\":16}}]}");
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
        assertThat(bytes.getFloat(headerLength)).isEqualTo(1f);
        assertThat(bytes.getInt(headerLength + 8 + 12)).isEqualTo(40);
        assertThat(response.body()).hasSize(headerLength + 24);
    }

    @Test
    void shouldAnswerInTheOrderThatWasAskedForAndOnlyThat() {
        HttpResponse<String> response = edge.post("/v2/models/pair/infer", """
                {"outputs":[{"name":"OUT1"}],"unknown":{"a":[1,{"b":null}]},"inputs":[
                  {"data":[[1,2],[3,4]],"shape":[1,4],"name":"IN0","datatype":"INT32","name":"second"},
                  {"name":"IN1","datatype":"FP32","shape":[1,2],"data":[-0.0,1e-7]}]}""");

        assertThat(response.body())
                .isEqualTo("{\"model_name\":\"pair\",\"model_version\":\"1\",\"outputs\":["
                        + "{\"name\":\"OUT1\",\"datatype\":\"FP32\",\"shape\":[1,2],"
                        + "\"data\":[-0.0,1.0000000116860974e-7]}]}");
    }

    @Test
    void shouldAnswerEverythingAsBytesWhenTheRequestSaysSo() {
        HttpResponse<byte[]> response = edge.send(
                edge.request("/v2/models/any/infer")
                        .POST(HttpRequest.BodyPublishers.ofString(
                                "{\"parameters\":{\"binary_data_output\":true},\"inputs\":"
                                        + "[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[3],\"data\":[1,2,3]}]}"))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());

        ByteBuffer bytes = ByteBuffer.wrap(response.body()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(bytes.getFloat(response.body().length - 4)).isEqualTo(3f);
        assertThat(response.headers().firstValue("Inference-Header-Content-Length"))
                .hasValue(String.valueOf(response.body().length - 12));
    }

    @Test
    void shouldCopyBytesThatAreNotAlignedForTheirType() {
        String json = "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"UINT8\",\"shape\":[3],"
                + "\"parameters\":{\"binary_data_size\":3}},{\"name\":\"IN1\",\"datatype\":\"FP64\",\"shape\":[2],"
                + "\"parameters\":{\"binary_data_size\":16}}]}";
        ByteBuffer body = ByteBuffer.allocate(json.length() + 19).order(ByteOrder.LITTLE_ENDIAN);
        body.put(json.getBytes(StandardCharsets.UTF_8))
                .put((byte) 1)
                .put((byte) 2)
                .put((byte) 255);
        body.putDouble(1.25).putDouble(-3);

        HttpResponse<String> response = edge.send(edge.request("/v2/models/odd/infer")
                .header("Inference-Header-Content-Length", String.valueOf(json.length()))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body.array()))
                .build());

        assertThat(response.body()).contains("\"data\":[1,2,255]").contains("\"data\":[1.25,-3.0]");
    }

    @Test
    void shouldAnswerEmptyTensors() {
        HttpResponse<String> response = edge.post(
                "/v2/models/any/infer",
                "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP32\",\"shape\":[0],\"data\":[]}],"
                        + "\"parameters\":{\"binary_data_output\":true}}");

        assertThat(response.body())
                .isEqualTo("{\"model_name\":\"any\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT0\","
                        + "\"datatype\":\"FP32\",\"shape\":[0],\"parameters\":{\"binary_data_size\":0}}]}");
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(response.headers().firstValue("Inference-Header-Content-Length"))
                .isEmpty();
    }

    @Test
    void shouldAnswerStringsAsTheyCame() {
        HttpResponse<String> response = edge.post(
                "/v2/models/strings/infer",
                "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"BYTES\",\"shape\":[2,2],"
                        + "\"data\":[[\"a\",\"\\u00e9\\n\"],[\"\",\"\\ud83d\\ude00\"]]}]}");

        assertThat(response.body()).endsWith("\"shape\":[2,2],\"data\":[\"a\",\"é\\n\",\"\",\"😀\"]}]}");
    }

    @Test
    void shouldTakeTheWholeBodyForTheOnlyInput() {
        ByteBuffer floats = ByteBuffer.allocate(12)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(1)
                .putFloat(2)
                .putFloat(3);

        HttpResponse<byte[]> response = postRaw("any", floats.array());

        assertThat(text(response))
                .startsWith("{\"model_name\":\"any\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT0\","
                        + "\"datatype\":\"FP32\",\"shape\":[3],\"parameters\":{\"binary_data_size\":12}}]}");
        assertThat(response.body()).endsWith(floats.array());
    }

    @Test
    void shouldTakeTheWholeBodyForTheOnlyString() {
        HttpResponse<byte[]> response = postRaw("string", "hello".getBytes(StandardCharsets.UTF_8));

        assertThat(text(response)).contains("\"shape\":[1,1],\"parameters\":{\"binary_data_size\":9}");
        assertThat(response.body()).endsWith(new byte[] {5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'});
        assertThat(text(postRaw("one", new byte[] {'x'})))
                .contains("\"shape\":[1,1,1],\"parameters\":{\"binary_data_size\":5}");
        assertThat(text(postRaw("strings", new byte[1])))
                .isEqualTo("{\"error\":\"For BYTE datatype raw input 'IN0', the model must have input shape [1]\"}");
    }

    @Test
    void shouldUnderstandCompressedRequests() throws IOException {
        for (boolean gzip : new boolean[] {true, false}) {
            ByteArrayOutputStream compressed = new ByteArrayOutputStream();
            try (OutputStream out = gzip ? new GZIPOutputStream(compressed) : new DeflaterOutputStream(compressed)) {
                out.write(ANY.getBytes(StandardCharsets.UTF_8));
            }
            HttpResponse<String> response = edge.send(edge.request("/v2/models/any/infer")
                    .header("Content-Encoding", gzip ? "gzip" : "deflate")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(compressed.toByteArray()))
                    .build());

            assertThat(response.body()).isEqualTo(ANY_ANSWER);
        }
    }

    @Test
    void shouldRefuseWhatCannotBeDecompressed() {
        assertThat(postEncoded("gzip", "{}").body()).contains("the request body is not what its Content-Encoding says");
        HttpResponse<String> unknown = postEncoded("br", "{}");
        assertThat(unknown.statusCode()).isEqualTo(501);
        assertThat(unknown.body()).isEqualTo("{\"error\":\"Unsupported compression type\"}");
        assertThat(unknown.headers().firstValue("Accept-Encoding")).hasValue("gzip, deflate");
        assertThat(postEncoded("identity", ANY).body()).isEqualTo(ANY_ANSWER);
    }

    @Test
    void shouldRefuseWhatIsTooLongOnceDecompressed() throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(compressed)) {
            out.write(new byte[2 << 20]);
        }
        HttpResponse<String> response = edge.send(edge.request("/v2/models/any/infer")
                .header("Content-Encoding", "gzip")
                .POST(HttpRequest.BodyPublishers.ofByteArray(compressed.toByteArray()))
                .build());

        assertThat(response.body())
                .contains("Decompressed data size exceeds the maximum allowed value of 1048576 bytes.");
        assertThat(response.statusCode()).isEqualTo(400);
    }

    @Test
    void shouldCompressForThoseWhoPreferIt() throws IOException {
        HttpResponse<byte[]> gzip = postAccepting("deflate;q=0.5, gzip, identity;q=0.1, br");
        assertThat(gzip.headers().firstValue("Content-Encoding")).hasValue("gzip");
        assertThat(new String(
                        new GZIPInputStream(new ByteArrayInputStream(gzip.body())).readAllBytes(),
                        StandardCharsets.UTF_8))
                .isEqualTo(ANY_ANSWER);

        HttpResponse<byte[]> deflate = postAccepting("deflate,gzip");
        assertThat(new String(
                        new InflaterInputStream(new ByteArrayInputStream(deflate.body())).readAllBytes(),
                        StandardCharsets.UTF_8))
                .isEqualTo(ANY_ANSWER);

        for (String accept : new String[] {"gzip;q=0.1;level=1", "deflate;level=1;q=0.2, gzip;level=1;q=0.3"}) {
            assertThat(postAccepting(accept).headers().firstValue("Content-Encoding"))
                    .as(accept)
                    .hasValue("gzip");
        }

        for (String accept : new String[] {"identity", "br", "*", "gzip;q=0"}) {
            HttpResponse<byte[]> plain = postAccepting(accept);
            assertThat(plain.headers().firstValue("Content-Encoding"))
                    .as(accept)
                    .isEmpty();
            assertThat(text(plain)).isEqualTo(ANY_ANSWER);
        }
    }

    private static HttpResponse<byte[]> postRaw(String model, byte[] body) {
        return edge.send(
                edge.request("/v2/models/" + model + "/infer")
                        .header("Inference-Header-Content-Length", "0")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    private static HttpResponse<String> postEncoded(String encoding, String body) {
        return edge.send(edge.request("/v2/models/any/infer")
                .header("Content-Encoding", encoding)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build());
    }

    private static HttpResponse<byte[]> postAccepting(String encodings) {
        return edge.send(
                edge.request("/v2/models/any/infer")
                        .header("Accept-Encoding", encodings)
                        .POST(HttpRequest.BodyPublishers.ofString(ANY))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }
}
