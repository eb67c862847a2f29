package gatun.http.v2;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.EdgeUnderTest;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InferTest {
    private static EdgeUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        EdgeUnderTest.writeModel(repository, "pair", 8, "TYPE_INT32 [ 4 ]", "TYPE_FP32 [ 2 ]");
        EdgeUnderTest.writeModel(repository, "any", 0, "TYPE_FP32 [ -1 ]");
        edge = EdgeUnderTest.start(repository);
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
        HttpResponse<String> answer = edge.post("/v2/models/pair/infer", """
                {"id":"7","inputs":[
                  {"name":"IN0","datatype":"INT32","shape":[1,4],"data":[1,-2,3,2147483647]},
                  {"name":"IN1","datatype":"FP32","shape":[1,2],"data":[[1.5],[1.1]]}]}""");

        assertThat(answer.body())
                .isEqualTo(
                        "{\"id\":\"7\",\"model_name\":\"pair\",\"model_version\":\"1\",\"outputs\":["
                                + "{\"name\":\"OUT0\",\"datatype\":\"INT32\",\"shape\":[1,4],\"data\":[1,-2,3,2147483647]},"
                                + "{\"name\":\"OUT1\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1.5,1.100000023841858]}]}");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
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

        HttpResponse<byte[]> answer = edge.send(
                edge.request("/v2/models/pair/versions/1/infer")
                        .header("Inference-Header-Content-Length", String.valueOf(json.length()))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body.array()))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());

        int headerLength = Integer.parseInt(
                answer.headers().firstValue("Inference-Header-Content-Length").orElseThrow());
        ByteBuffer bytes = ByteBuffer.wrap(answer.body()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(new String(answer.body(), 0, headerLength, StandardCharsets.UTF_8))
                .isEqualTo("{\"model_name\":\"pair\",\"model_version\":\"1\",\"outputs\":["
                        + "{\"name\":\"OUT1\",\"datatype\":\"FP32\",\"shape\":[1,2],"
                        + "\"parameters\":{\"binary_data_size\":8}},"
                        + "{\"name\":\"OUT0\",\"datatype\":\"INT32\",\"shape\":[1,4],"
                        + "\"parameters\":{\"binary_data_size\":16}}]}");
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
        assertThat(bytes.getFloat(headerLength)).isEqualTo(1f);
        assertThat(bytes.getInt(headerLength + 8 + 12)).isEqualTo(40);
        assertThat(answer.body()).hasSize(headerLength + 24);
    }
}
