// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An engine whose jar is put beside the server: what it declares is all that the server needs for its models. */
@Timeout(120)
class EngineFolderIT {
    private static final String ENGINES =
            "--backend-directory=" + ServerProcess.root().resolve("it/target/backends");
    private static final String INPUT =
            "{\"inputs\":[{\"name\":\"IN\",\"shape\":[2],\"datatype\":\"INT32\",\"data\":[1,2]}]}";

    @TempDir
    Path folder;

    private Path file(String name, String number) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, number);
    }

    private static void infers(HttpApi http, String model, String data) {
        HttpResponse<String> response = http.post("/v2/models/" + model + "/infer", INPUT);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).contains("\"data\":" + data);
    }

    private static ServerProcess run(int status, String... arguments) {
        ServerProcess process = ServerProcess.run(arguments);
        assertThat(process.awaitExit(Duration.ZERO)).as(process.transcript()).isEqualTo(status);
        return process;
    }

    @Test
    void shouldServeItsBareFile() throws Exception {
        Path file = file("three.toy", "3");
        try (ServerProcess server =
                        ServerProcess.launchList(file.toString(), ENGINES, "--backend-config=toy,times=10");
                HttpApi http = new HttpApi(server)) {
            infers(http, "three", "[31,32]");
            assertThat(http.get("/v2/models/three/config").body())
                    .contains("\"backend\":\"toy\"", "\"platform\":\"toy_number\"", "three.toy");
        }
    }

    @Test
    void shouldServeAndListAModelWithoutAConfiguration() throws Exception {
        file("models/five/1/model.toy", "5");
        file("models/named/1/model.toy", "7");
        file("models/named/config.pbtxt", "platform: \"toy_number\"");
        try (ServerProcess server = ServerProcess.launch(folder.resolve("models"), ENGINES);
                HttpApi http = new HttpApi(server)) {
            infers(http, "five", "[6,7]");
            infers(http, "named", "[8,9]");
            assertThat(http.post("/v2/repository/index", "").body()).contains("\"five\"", "\"named\"");
        }
    }

    @Test
    void shouldCheckItsModels() throws IOException {
        file("models/five/1/model.toy", "5");
        file("models/wrong/1/model.toy", "many");
        file("models/loose.toy", "1");
        assertThat(run(1, "check", folder.resolve("models").toString(), ENGINES).output())
                .contains("five: good, version 1", "wrong: 1 problem", "model.toy holds no number")
                .contains("loose.toy is not served as it lies there", "loose/1/model.toy")
                .containsPattern("name: \"five\"\\R +platform: \"toy_number\"");
    }

    @Test
    void shouldLayOutItsFile() throws IOException {
        Path file = file("three.toy", "3");
        Path repository = folder.resolve("models");
        run(0, "init", file.toString(), "--model-repository=" + repository, ENGINES);
        assertThat(repository.resolve("three/1/model.toy")).hasContent("3");
        assertThat(repository.resolve("three/config.pbtxt"))
                .content()
                .contains("platform: \"toy_number\"", "name: \"IN\"");
    }

    @Test
    void shouldListWhatItDeclares() {
        assertThat(run(0, "backends", ENGINES).output())
                .containsPattern("toy\\R  file model\\.toy, platform toy_number\\R")
                .contains("--backend-config=toy,times=...  How often the number of a model is added.")
                .containsPattern("onnxruntime\\R  file model\\.onnx, platform onnxruntime_onnx\\R");
    }
}
