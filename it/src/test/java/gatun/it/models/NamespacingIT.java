// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.testing.OnnxFile;
import gatun.testing.OnnxFile.Value;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models of equal names in two repositories, each with an ensemble that asks it, in the real server. */
@Timeout(120)
class NamespacingIT {
    private static final String NAMESPACING = "--model-namespacing=true";
    private static final String REQUEST = """
            {"inputs": [{"name": "LEFT", "datatype": "FP32", "shape": [1], "data": [5]},
                        {"name": "RIGHT", "datatype": "FP32", "shape": [1], "data": [2]}]}""";
    private static final String ENSEMBLE = """
            platform: "ensemble"
            input [ { name: "LEFT" data_type: TYPE_FP32 dims: [ 1 ] }, { name: "RIGHT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            ensemble_scheduling { step [
              { model_name: "shared" model_version: -1 input_map { key: "LEFT" value: "LEFT" }
                input_map { key: "RIGHT" value: "RIGHT" } output_map { key: "OUT" value: "OUT" } } ] }
            """;
    private static final String ADDED = "\"data\":[7.0]";
    private static final String SUBTRACTED = "\"data\":[3.0]";

    @TempDir
    Path folder;

    private ServerProcess launch(String... flags) throws Exception {
        String[] all = new String[flags.length + 2];
        all[0] = "--model-repository=" + repository("adding", "Add", "add");
        all[1] = NAMESPACING;
        System.arraycopy(flags, 0, all, 2, flags.length);
        return ServerProcess.launch(repository("subtracting", "Sub", "subtract"), Map.of(), all);
    }

    /** A repository with a model {@code shared} and an ensemble that asks it. */
    private Path repository(String name, String operator, String ensemble) throws IOException {
        Path repository = folder.resolve(name);
        Path version = Files.createDirectories(repository.resolve("shared/1"));
        OnnxFile.write(
                version,
                operator,
                List.of(new Value("LEFT", OnnxFile.FLOAT, "1"), new Value("RIGHT", OnnxFile.FLOAT, "1")),
                List.of(new Value("OUT", OnnxFile.FLOAT, "1")),
                "",
                0);
        Files.createDirectories(repository.resolve(ensemble).resolve("1"));
        Files.writeString(repository.resolve(ensemble).resolve("config.pbtxt"), ENSEMBLE);
        return repository;
    }

    private static HttpResponse<String> infer(HttpApi http, String model) {
        return http.post("/v2/models/" + model + "/infer", REQUEST);
    }

    private static void requireAmbiguity(HttpApi http) {
        HttpResponse<String> response = infer(http, "shared");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body())
                .contains("There are 2 identifiers of model 'shared' in global map, model namespace must be provided"
                        + " to resolve ambiguity.");
    }

    @Test
    void shouldAskTheModelOfTheEnsemblesOwnRepositoryAndFollowItsChanges() throws Exception {
        try (ServerProcess server = launch("--model-control-mode=poll", "--repository-poll-secs=1");
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "add").body()).contains(ADDED);
            assertThat(infer(http, "subtract").body()).contains(SUBTRACTED);
            requireAmbiguity(http);
            assertThat(http.get("/v2/models/shared/ready").statusCode()).isEqualTo(400);
            assertThat(infer(http, "absent").statusCode()).isEqualTo(400);
            assertThat(infer(http, "absent").body()).contains("Request for unknown model: 'absent' is not found");
            assertThat(http.post("/v2/repository/index", "").body().split("\"shared\"", -1))
                    .as("both models are in the index")
                    .hasSize(3);
            String metrics = http.send(HttpRequest.newBuilder(server.metrics()), HttpResponse.BodyHandlers.ofString())
                    .body();
            for (String repository : List.of("adding", "subtracting")) {
                assertThat(metrics)
                        .contains("nv_inference_request_success{model=\"shared\",namespace=\""
                                + folder.resolve(repository) + "\",version=\"1\"}");
            }

            Path model = folder.resolve("adding/shared");
            Path away = folder.resolve("away");
            Files.move(model, away);
            Await.until("the other model", () -> infer(http, "add").body().contains(SUBTRACTED));
            Await.until("the only name", () -> infer(http, "shared").body().contains(SUBTRACTED));
            assertThat(infer(http, "subtract").body()).contains(SUBTRACTED);

            Files.move(away, model);
            Await.until("the own model", () -> infer(http, "add").body().contains(ADDED));
            assertThat(infer(http, "subtract").body()).contains(SUBTRACTED);
            requireAmbiguity(http);
        }
    }

    @Test
    void shouldLoadAndUnloadTheModelsOfAllRepositoriesThatHaveTheName() throws Exception {
        try (ServerProcess server = launch("--model-control-mode=explicit");
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/repository/models/add/load", "").statusCode())
                    .isEqualTo(200);
            assertThat(infer(http, "add").body()).contains(ADDED);
            requireAmbiguity(http);
            assertThat(http.post("/v2/repository/models/subtract/load", "").statusCode())
                    .isEqualTo(200);
            assertThat(infer(http, "subtract").body()).contains(SUBTRACTED);

            assertThat(http.post("/v2/repository/models/shared/unload", "").statusCode())
                    .isEqualTo(200);
            HttpResponse<String> gone = infer(http, "shared");
            assertThat(gone.statusCode()).isEqualTo(404);
            assertThat(gone.body()).contains("Identifier of model 'shared' is not found in global map");
            assertThat(infer(http, "add").statusCode()).isNotEqualTo(200);

            assertThat(http.post("/v2/repository/models/shared/load", "").statusCode())
                    .isEqualTo(200);
            Await.until(
                    "both ensembles",
                    () -> infer(http, "add").body().contains(ADDED)
                            && infer(http, "subtract").body().contains(SUBTRACTED));
            requireAmbiguity(http);
        }
    }

    @Test
    void shouldKeepNamesUniqueWithoutTheFlag() throws Exception {
        Path adding = repository("adding", "Add", "add");
        try (ServerProcess server = ServerProcess.launch(
                        repository("subtracting", "Sub", "subtract"),
                        "--model-repository=" + adding,
                        "--exit-on-error=false",
                        "--strict-readiness=false");
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/repository/index", "").body())
                    .contains("model 'shared' appears in two or more repositories");
            assertThat(infer(http, "shared").statusCode()).isNotEqualTo(200);
        }
    }
}
