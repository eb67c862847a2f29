// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import gatun.protocol.testing.ListenerUnderTest;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatisticsTest {
    private ListenerUnderTest edge;

    @BeforeEach
    void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "ints", 8, "TYPE_INT32 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "more", 8, "TYPE_INT32 [ 2 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterEach
    void stop() {
        edge.close();
    }

    @Test
    void shouldCountRequestsAndBatches() throws IOException {
        infer("{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[1,2],\"data\":[1,2]}", 200);
        infer("{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[3,2],\"data\":[1,2,3,4,5,6]}", 200);
        infer(
                "{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[9,2],\"data\":[1,2,3,4,5,6,7,8,9,"
                        + "1,2,3,4,5,6,7,8,9]}",
                400);

        JsonNode model = stats("/v2/models/ints/stats").path(0);
        assertThat(model.path("name").asText()).isEqualTo("ints");
        assertThat(model.path("version").asText()).isEqualTo("1");
        assertThat(model.path("inference_count").asLong()).isEqualTo(4);
        assertThat(model.path("execution_count").asLong()).isEqualTo(2);
        assertThat(model.path("last_inference").asLong()).isPositive();
        JsonNode times = model.path("inference_stats");
        assertThat(times.path("success").path("count").asLong()).isEqualTo(2);
        assertThat(times.path("success").path("ns").asLong()).isPositive();
        assertThat(times.path("fail").path("count").asLong()).isEqualTo(1);
        assertThat(times.path("fail").path("ns").asLong()).isPositive();
        assertThat(times.path("queue").path("count").asLong()).isEqualTo(2);
        assertThat(times.path("compute_infer").path("count").asLong()).isEqualTo(2);
        assertThat(model.path("batch_stats").findValuesAsText("batch_size")).containsExactly("1", "3");
        assertThat(model.path("batch_stats")
                        .path(1)
                        .path("compute_output")
                        .path("count")
                        .asLong())
                .isEqualTo(1);
    }

    @Test
    void shouldHoldEveryMemberAlsoWhereThereIsNothingToTell() {
        String zero = "{\"count\":0,\"ns\":0}";
        assertThat(edge.get("/v2/models/ints/versions/1/stats").body())
                .isEqualTo("{\"model_stats\":[{\"name\":\"ints\",\"version\":\"1\",\"last_inference\":0,"
                        + "\"inference_count\":0,\"execution_count\":0,\"inference_stats\":{\"success\":" + zero
                        + ",\"fail\":" + zero + ",\"queue\":" + zero + ",\"compute_input\":" + zero
                        + ",\"compute_infer\":" + zero + ",\"compute_output\":" + zero + ",\"cache_hit\":" + zero
                        + ",\"cache_miss\":" + zero
                        + "},\"response_stats\":{},\"batch_stats\":[],\"memory_usage\":[]}]}");
    }

    @Test
    void shouldTellOfAllModelsOrOfTheOneThatIsNamed() throws IOException {
        assertThat(stats("/v2/models/stats").findValuesAsText("name")).containsExactly("ints", "more");
        assertThat(stats("/v2/models/more/stats").findValuesAsText("name")).containsExactly("more");
        assertThat(edge.get("/v2/models/none/stats").statusCode()).isEqualTo(400);
        assertThat(edge.get("/v2/models/none/stats").body())
                .isEqualTo("{\"error\":\"requested model 'none' is not available\"}");
        assertThat(edge.get("/v2/models/ints/versions/2/stats").body())
                .isEqualTo("{\"error\":\"requested model version is not available for model 'ints'\"}");
        assertThat(edge.post("/v2/models/stats", "").statusCode()).isEqualTo(405);
    }

    private void infer(String input, int status) {
        assertThat(edge.post("/v2/models/ints/infer", "{\"inputs\":[" + input + "]}")
                        .statusCode())
                .isEqualTo(status);
    }

    private JsonNode stats(String path) throws IOException {
        return new ObjectMapper().readTree(edge.get(path).body()).path("model_stats");
    }
}
