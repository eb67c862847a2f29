// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HEAD and OPTIONS, pages of other servers, and heads that are too long. */
class MethodsTest {
    private static final String PAGE = "https://console.example";

    private ListenerUnderTest edge;

    @BeforeEach
    void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "m", 0, "TYPE_FP32 [ -1 ]");
        edge = V2TestServer.startWith(repository, settings -> settings.withAllowedOrigins(Set.of(PAGE)));
    }

    @AfterEach
    void stop() {
        edge.close();
    }

    private HttpResponse<String> send(String method, String path) {
        return edge.send(edge.request(path)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build());
    }

    @Test
    void shouldAnswerHeadWithTheHeadOfGet() {
        HttpResponse<String> get = edge.get("/v2/models/m");
        try (RawClient client = new RawClient(edge.port())) {
            for (int i = 0; i < 2; i++) {
                client.sendLines("HEAD /v2/models/m HTTP/1.1\nHost: h\n\nHEAD /v2/models/none HTTP/1.1\nHost: h\n\n");
                assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
                assertThat(headers(client))
                        .contains(
                                "Content-Type: application/json",
                                "Content-Length: " + get.body().length());
                assertThat(client.line()).startsWith("HTTP/1.1 404");
                assertThat(headers(client)).contains("Content-Type: application/json");
            }
        }
        assertThat(send("HEAD", "/v2/health/live").statusCode()).isEqualTo(200);
        assertThat(send("HEAD", "/v2/repository/index").statusCode()).isEqualTo(405);
    }

    private static String headers(RawClient client) {
        StringBuilder headers = new StringBuilder();
        for (String line = client.line(); !line.isEmpty(); line = client.line()) {
            headers.append(line).append('\n');
        }
        return headers.toString();
    }

    @Test
    void shouldTellWhichMethodsAPathIsFor() {
        HttpResponse<String> options = send("OPTIONS", "/v2/models/m/infer");
        assertThat(options.statusCode()).isEqualTo(204);
        assertThat(options.headers().firstValue("Allow")).hasValue("POST, OPTIONS");
        assertThat(send("OPTIONS", "/v2/logging").headers().firstValue("Allow")).hasValue("GET, HEAD, POST, OPTIONS");
        HttpResponse<String> wrong = send("DELETE", "/v2");
        assertThat(wrong.statusCode()).isEqualTo(405);
        assertThat(wrong.headers().firstValue("Allow")).hasValue("GET, HEAD, OPTIONS");
        assertThat(send("OPTIONS", "/v2/none").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldTellWhichMethodsTheMetricsAreFor() {
        HttpResponse<String> wrong = sendToMetrics("DELETE", "/metrics");
        assertThat(wrong.statusCode()).isEqualTo(405);
        assertThat(wrong.headers().firstValue("Allow")).hasValue("GET, HEAD, OPTIONS");
        HttpResponse<String> head = sendToMetrics("HEAD", "/metrics/");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain"));
        assertThat(sendToMetrics("OPTIONS", "/metrics").headers().firstValue("Allow"))
                .hasValue("GET, HEAD, OPTIONS");
        assertThat(sendToMetrics("GET", "/other").statusCode()).isEqualTo(404);
    }

    private HttpResponse<String> sendToMetrics(String method, String path) {
        return edge.send(HttpRequest.newBuilder(URI.create("http://localhost:" + edge.metricsPort() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build());
    }

    @Test
    void shouldLetInPagesOfTheServersThatWereNamedOnly() {
        HttpRequest.Builder preflight = edge.request("/v2/models/m/infer")
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "content-type");
        HttpResponse<String> named =
                edge.send(preflight.copy().header("Origin", PAGE).build());
        assertThat(named.statusCode()).isEqualTo(204);
        assertThat(named.headers().firstValue("Access-Control-Allow-Origin")).hasValue(PAGE);
        assertThat(named.headers().firstValue("Access-Control-Allow-Methods")).hasValue("POST, OPTIONS");
        assertThat(named.headers().firstValue("Access-Control-Allow-Headers")).hasValue("content-type");
        HttpResponse<String> other =
                edge.send(preflight.header("Origin", "https://evil.example").build());
        assertThat(other.headers().map()).doesNotContainKey("access-control-allow-origin");

        HttpResponse<String> response =
                edge.send(edge.request("/v2").header("Origin", PAGE).build());
        assertThat(response.headers().firstValue("Access-Control-Allow-Origin")).hasValue(PAGE);
        assertThat(response.headers().firstValue("Access-Control-Expose-Headers"))
                .hasValueSatisfying(exposed -> assertThat(exposed).contains("Inference-Header-Content-Length"));
        HttpResponse<String> failure =
                edge.send(edge.request("/v2/none").header("Origin", PAGE).build());
        assertThat(failure.headers().firstValue("Access-Control-Allow-Origin")).hasValue(PAGE);
        assertThat(edge.get("/v2").headers().map()).doesNotContainKey("access-control-allow-origin");
    }

    @Test
    void shouldRefuseAHeadThatIsTooLong() {
        try (RawClient client = new RawClient(edge.port())) {
            client.sendLines("GET /v2 HTTP/1.1\nHost: h\nX-Long: " + "x".repeat(70_000) + "\n\n");
            RawClient.Response response = client.read();
            assertThat(response.status()).isIn(400, 413, 431);
            assertThat(response.text()).startsWith("{\"error\":");
        }
        assertThat(edge.get("/v2").statusCode()).isEqualTo(200);
    }
}
