// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerProcess;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Long JSON, in and out, to a server with default flags: it is answered rightly, or refused by a limit's name. */
@Timeout(120)
class LongJsonIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final int CLIENTS = 8;
    private static final int NUMBERS = 200_000;
    private static final int LONG_TEXT = 60 << 20;

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static ServerProcess server;

    @BeforeAll
    static void start(@TempDir Path repository) throws Exception {
        identity(repository, "floats", "TYPE_FP32");
        identity(repository, "texts", "TYPE_STRING");
        identity(repository, "bytes", "TYPE_INT8");
        server = ServerProcess.launch(repository);
    }

    @AfterAll
    static void stop() {
        server.close();
        HTTP.close();
    }

    private static void identity(Path repository, String name, String type) throws IOException {
        Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), """
                backend: "identity"
                max_batch_size: 0
                input [ { name: "IN" data_type: %s dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: %s dims: [ -1 ] } ]
                """.formatted(type, type));
    }

    @Test
    void shouldAnswerEightClientsAtOnce() throws Exception {
        String numbers = "1.5,-2.0,".repeat(NUMBERS / 2 - 1) + "1.5,-2.0";
        String tensor = "\"datatype\":\"FP32\",\"shape\":[" + NUMBERS + "],\"data\":[" + numbers + "]}]}";
        String request = "{\"inputs\":[{\"name\":\"IN\"," + tensor;
        String expected = "{\"model_name\":\"floats\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT\"," + tensor;
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<HttpResponse<String>>> responses = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                responses.add(
                        clients.submit(() -> post("floats", request.getBytes(StandardCharsets.UTF_8), "identity")));
            }
            for (Future<HttpResponse<String>> response : responses) {
                assertThat(response.get().statusCode()).isEqualTo(200);
                assertThat(response.get().body().equals(expected))
                        .as("the answer")
                        .isTrue();
            }
        }
    }

    @Test
    void shouldAnswerOneLongStringAndBytesAsNumbers() throws Exception {
        String text = "long ".repeat(1 << 20);
        HttpResponse<String> string = post(
                "texts",
                ("{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"" + text + "\"]}]}")
                        .getBytes(StandardCharsets.UTF_8),
                "identity");
        assertThat(string.statusCode()).isEqualTo(200);
        assertThat(string.body().contains("[\"" + text + "\"]")).isTrue();

        int count = 2 << 20;
        String json = "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT8\",\"shape\":[" + count
                + "],\"parameters\":{\"binary_data_size\":" + count + "}}]}";
        HttpRequest bytes = HttpRequest.newBuilder(server.http("/v2/models/bytes/infer"))
                .timeout(DEADLINE)
                .header("Inference-Header-Content-Length", Integer.toString(json.length()))
                .POST(HttpRequest.BodyPublishers.concat(
                        HttpRequest.BodyPublishers.ofString(json),
                        HttpRequest.BodyPublishers.ofByteArray(new byte[count])))
                .build();
        HttpResponse<String> response = HTTP.send(bytes, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body().endsWith("[" + "0,".repeat(count - 1) + "0]}]}"))
                .isTrue();
    }

    @Test
    void shouldRefuseLongTextsThatHaveNoBusinessBeingLong() throws Exception {
        String begin = "{\"id\":\"";
        byte[] request = (begin + "x".repeat(LONG_TEXT) + "\",\"inputs\":[]}").getBytes(StandardCharsets.US_ASCII);

        assertRefused(post("floats", request, "identity"));
        assertRefused(post("floats", gzip(request), "gzip"));

        String small = "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}]}";
        assertThat(post("floats", small.getBytes(StandardCharsets.US_ASCII), "identity")
                        .body())
                .contains("\"data\":[1.0]");
    }

    private static void assertRefused(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(response.body()).contains("Unable to parse 'id'").contains("--limit-text-byte-size");
    }

    private static byte[] gzip(byte[] plain) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream compressing = new GZIPOutputStream(compressed)) {
            compressing.write(plain);
        }
        return compressed.toByteArray();
    }

    private static HttpResponse<String> post(String model, byte[] body, String coding) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(server.http("/v2/models/" + model + "/infer"))
                .timeout(DEADLINE)
                .header("Content-Encoding", coding)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
