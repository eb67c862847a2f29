// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import gatun.protocol.testing.TestServerSettings;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetadataTest {
    private static ListenerUnderTest edge;

    @TempDir
    private static Path repository;

    @BeforeAll
    static void start() throws IOException {
        ListenerUnderTest.writeModel(repository, "ints", 8, "TYPE_INT32 [ 2, -1 ]");
        Files.createDirectories(repository.resolve("ints").resolve("3"));
        Files.writeString(
                repository.resolve("ints").resolve("config.pbtxt"),
                "\nversion_policy { all { } }\nparameters { key: \"k\" value { string_value: \"v\" } }\n",
                StandardOpenOption.APPEND);
        ListenerUnderTest.writeModel(repository, "broken", 0, "TYPE_INT32 [ 2 ]");
        Files.writeString(repository.resolve("broken").resolve("config.pbtxt"), "backend: \"none\"");
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @Test
    void shouldTellItsHealthByTheStatusAndAsJson() {
        HttpResponse<String> live = edge.get("/v2/health/live");
        assertThat(live.statusCode()).isEqualTo(200);
        assertThat(live.body()).isEqualTo("{\"live\":true}");
        assertThat(live.headers().firstValue("Content-Type")).hasValue("application/json");

        // One model cannot be loaded, so strictly the server is not ready.
        HttpResponse<String> ready = edge.get("/v2/health/ready");
        assertThat(ready.statusCode()).isEqualTo(400);
        assertThat(ready.body()).isEqualTo("{\"ready\":false}");
        assertThat(ready.headers().firstValue("Content-Type")).hasValue("application/json");

        assertThat(edge.post("/v2/health/live", "").statusCode()).isEqualTo(405);
    }

    @Test
    void shouldTellItsHealthByTheStatusAlone() {
        try (ListenerUnderTest bare = V2TestServer.startWith(repository, TestServerSettings::withoutHealthBodies)) {
            for (String path :
                    List.of("/v2/health/live", "/v2/models/ints/ready", "/v2/models/ints/versions/3/ready")) {
                HttpResponse<String> healthy = bare.get(path);
                assertThat(healthy.statusCode()).as(path).isEqualTo(200);
                assertThat(healthy.body()).as(path).isEmpty();
            }
            HttpResponse<String> ready = bare.get("/v2/health/ready");
            assertThat(ready.statusCode()).isEqualTo(400);
            assertThat(ready.body()).isEmpty();
            assertThat(bare.get("/v2/models/none/ready").body()).contains("Model version not ready");
        }
    }

    @Test
    void shouldDescribeTheServer() {
        assertThat(edge.get("/v2").body())
                .startsWith(
                        "{\"name\":\"triton\",\"version\":\"1.2.3\",\"extensions\":[\"classification\",\"sequence\",")
                .contains(",\"schedule_policy\",");
        assertThat(edge.get("/v2?x=y").statusCode()).isEqualTo(200);
    }

    @Test
    void shouldDescribeAModel() {
        String tensors = ",\"platform\":\"identity\","
                + "\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[-1,2,-1]}],"
                + "\"outputs\":[{\"name\":\"OUT0\",\"datatype\":\"INT32\",\"shape\":[-1,2,-1]}]}";

        assertThat(edge.get("/v2/models/ints").body())
                .isEqualTo("{\"name\":\"ints\",\"versions\":[\"1\",\"3\"]" + tensors);
        assertThat(edge.get("/v2/models/ints/versions/1").body())
                .isEqualTo("{\"name\":\"ints\",\"versions\":[\"1\"]" + tensors);
        assertThat(edge.get("/v2/models/none").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldTellWhetherAModelIsReady() {
        assertThat(edge.get("/v2/models/ints/ready").statusCode()).isEqualTo(200);
        assertThat(edge.get("/v2/models/ints/ready").body()).isEqualTo("{\"name\":\"ints\",\"ready\":true}");
        assertThat(edge.get("/v2/models/ints/versions/3/ready").body()).isEqualTo("{\"name\":\"ints\",\"ready\":true}");
        HttpResponse<String> noVersion = edge.get("/v2/models/ints/versions/2/ready");
        assertThat(noVersion.statusCode()).isEqualTo(400);
        assertThat(noVersion.body()).startsWith("{\"error\":\"Model version not ready: Request for unknown model");
        assertThat(edge.get("/v2/models/none/ready").statusCode()).isEqualTo(400);
        assertThat(edge.get("/v2/models/broken/ready").statusCode()).isEqualTo(400);
    }

    @Test
    void shouldShowTheConfigurationWithEveryScalar() throws IOException {
        JsonNode config =
                new ObjectMapper().readTree(edge.get("/v2/models/ints/config").body());

        assertThat(config.path("name").asText()).isEqualTo("ints");
        assertThat(config.path("max_batch_size").asInt()).isEqualTo(8);
        assertThat(config.path("input").path(0).path("data_type").asText()).isEqualTo("TYPE_INT32");
        assertThat(config.path("input").path(0).path("dims").toString()).isEqualTo("[2,-1]");
        assertThat(config.path("input").path(0).path("optional").isBoolean()).isTrue();
        assertThat(config.path("parameters").toString()).isEqualTo("{\"k\":{\"string_value\":\"v\"}}");
        assertThat(config.path("version_policy").toString()).isEqualTo("{\"all\":{}}");
        assertThat(config.path("ensemble_scheduling").isMissingNode()).isTrue();
        assertThat(config.path("model_warmup").toString()).isEqualTo("[]");
    }

    @Test
    void shouldListTheRepository() throws IOException {
        JsonNode index = new ObjectMapper()
                .readTree(edge.post("/v2/repository/index", "").body());
        JsonNode broken = index.path(0);

        assertThat(index).hasSize(3);
        assertThat(broken.path("name").asText()).isEqualTo("broken");
        assertThat(broken.path("state").asText()).isEqualTo("UNAVAILABLE");
        assertThat(broken.path("reason").asText()).contains("none");
        String ready = "[{\"name\":\"ints\",\"version\":\"1\",\"state\":\"READY\"},"
                + "{\"name\":\"ints\",\"version\":\"3\",\"state\":\"READY\"}]";
        assertThat(edge.post("/v2/repository/index", "{\"ready\":true}").body()).isEqualTo(ready);
        assertThat(edge.post("/v2/repository/any/index", "{\"ready\":true}").body())
                .isEqualTo(ready);
        assertThat(edge.post("/v2/repository/index", "{\"ready\":1}").body())
                .isEqualTo("{\"error\":\"Invalid value for 'ready': expected a boolean\"}");
        assertThat(edge.post("/v2/repository/index", "{\"ready\":" + "[".repeat(20_000) + "]".repeat(20_000) + "}")
                        .body())
                .isEqualTo("{\"error\":\"Invalid value for 'ready': expected a boolean\"}");
    }

    @Test
    void shouldServeMetricsOnTheirOwnPort() {
        try (RawClient client = new RawClient(edge.metricsPort())) {
            RawClient.Response page =
                    client.sendLines("GET /metrics HTTP/1.1\nHost: h\n\n").read();
            assertThat(page.headers().get("content-type")).startsWith("text/plain; version=0.0.4");
            assertThat(page.text())
                    .contains("nv_inference_request_success{model=\"ints\",version=\"3\"}")
                    .contains("gatun_buffer_pool_total_bytes 67108864");

            RawClient.Response open = client.sendLines(
                            "GET /metrics/ HTTP/1.1\nHost: h\nAccept: application/openmetrics-text;version=1.0.0\n\n")
                    .read();
            assertThat(open.headers().get("content-type")).startsWith("application/openmetrics-text");

            assertThat(client.sendLines("POST /metrics HTTP/1.1\nHost: h\n\n")
                            .read()
                            .status())
                    .isEqualTo(405);
            RawClient.Response other =
                    client.sendLines("GET /v2 HTTP/1.1\nHost: h\n\n").read();
            assertThat(other.status()).isEqualTo(404);
            assertThat(other.text()).isEqualTo("{\"error\":\"Not Found\"}");
        }
    }
}
