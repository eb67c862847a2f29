// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code gatun serve PATH} in the real server: loose models, folders of models, and repositories, as they lie. */
@Timeout(120)
class ServedPathIT {
    private static final Path EXAMPLES = ServerProcess.exampleModels();

    @TempDir
    Path folder;

    @Test
    void shouldServeWhatIsNamedAndWriteNothingThere() throws Exception {
        Path loose = loose("adder.onnx", "simple");
        Files.writeString(folder.resolve("notes.txt"), "not a model");
        Files.createSymbolicLink(folder.resolve("linked.onnx"), loose);
        Set<Path> before = entries();
        try (ServerProcess server = ServerProcess.launchList(
                        loose.toString(),
                        folder.resolve("linked.onnx").toString(),
                        EXAMPLES.resolve("identity_fp32").toString(),
                        EXAMPLES.toString() + "/../models-bench");
                HttpApi http = new HttpApi(server)) {
            for (String name : List.of("adder", "linked")) {
                HttpResponse<String> answer = http.post("/v2/models/" + name + "/versions/1/infer", SimpleModel.json());
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                assertThat(answer.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
            }
            assertThat(http.get("/v2/models/adder/config").body())
                    .contains("\"default_model_filename\":\"adder.onnx\"");
            assertThat(http.get("/v2/models/identity_fp32/ready").statusCode()).isEqualTo(200);
            assertThat(http.post("/v2/repository/index", "").body()).contains("\"adder\"", "\"identity_fp32\"");
            assertThat(entries()).isEqualTo(before);
        }
    }

    @Test
    void shouldFollowTheFileWherePolled() throws Exception {
        Path loose = loose("model.onnx", "simple");
        try (ServerProcess server = ServerProcess.launchList(
                        loose.toString(), "--model-control-mode=poll", "--repository-poll-secs=1");
                HttpApi http = new HttpApi(server)) {
            assertThat(http.get("/v2/models/model").body()).contains("INPUT0");
            replace(loose, "softmax");
            Await.until(
                    "the new file is served",
                    () -> !http.get("/v2/models/model").body().contains("INPUT0"));
            assertThat(http.get("/v2/models/model/ready").statusCode()).isEqualTo(200);
            Files.delete(loose);
            Await.until(
                    "the model is gone",
                    () -> http.get("/v2/models/model/ready").statusCode() != 200);
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldLoadALooseModelWhenAsked() throws Exception {
        Path loose = loose("adder.onnx", "simple");
        try (ServerProcess server = ServerProcess.launchList(loose.toString(), "--model-control-mode=explicit");
                HttpApi http = new HttpApi(server)) {
            assertThat(http.get("/v2/models/adder/ready").statusCode()).isNotEqualTo(200);
            HttpResponse<String> loaded = http.post("/v2/repository/models/adder/load", "");
            assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
            HttpResponse<String> changed = http.post(
                    "/v2/repository/models/adder/load",
                    "{\"parameters\": {\"config\": \"{\\\"instance_group\\\": [{\\\"count\\\": 3}]}\"}}");
            assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
            assertThat(http.get("/v2/models/adder/config").body()).contains("\"count\":3", "adder.onnx");
            assertThat(http.post("/v2/models/adder/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200);

            // Files beside a loose model are not the model's, and no client's configuration gets at them.
            loose("other.onnx", "softmax");
            Files.writeString(folder.resolve("secret.txt"), "secret");
            HttpResponse<String> other = http.post(
                    "/v2/repository/models/adder/load",
                    "{\"parameters\": {\"config\": \"{\\\"default_model_filename\\\": \\\"other.onnx\\\"}\"}}");
            assertThat(other.statusCode()).as(other.body()).isEqualTo(400);
            assertThat(other.body()).contains("'default_model_filename'");
            assertThat(http.get("/v2/models/adder").body()).contains("INPUT0");
            HttpResponse<String> labels = http.post(
                    "/v2/repository/models/adder/load",
                    "{\"parameters\": {\"config\": \"{\\\"output\\\": [{\\\"name\\\": \\\"OUTPUT0\\\","
                            + " \\\"data_type\\\": \\\"TYPE_INT32\\\", \\\"dims\\\": [16],"
                            + " \\\"label_filename\\\": \\\"secret.txt\\\"}]}\"}}");
            assertThat(labels.statusCode()).as(labels.body()).isNotEqualTo(200);
        }
    }

    @Test
    void shouldSayWhyAPathCannotBeServed() throws Exception {
        Path notes = Files.writeString(folder.resolve("notes.txt"), "not a model");
        ServerProcess text = ServerProcess.run("serve", notes.toString(), "--http-port=0", "--grpc-port=0");
        assertThat(text.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(text.log()).contains("the file '" + notes + "' is no model by its name; expected");

        Path loose = loose("simple.onnx", "simple");
        ServerProcess twice = ServerProcess.run(
                "serve", loose.toString(), EXAMPLES.resolve("simple").toString(), "--http-port=0", "--grpc-port=0");
        assertThat(twice.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(twice.output()).contains("model 'simple' is named more than once");

        ServerProcess whole = ServerProcess.run(
                "serve", loose.toString(), "--disable-auto-complete-config", "--http-port=0", "--grpc-port=0");
        assertThat(whole.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(whole.output()).contains("switched off by --disable-auto-complete-config");
    }

    private Path loose(String name, String example) throws IOException {
        return Files.copy(EXAMPLES.resolve(example).resolve("1/model.onnx"), folder.resolve(name));
    }

    private void replace(Path loose, String example) throws IOException {
        Path next = loose("next", example);
        Files.move(next, loose, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private Set<Path> entries() throws IOException {
        try (Stream<Path> entries = Files.walk(folder)) {
            return Set.copyOf(entries.toList());
        }
    }
}
