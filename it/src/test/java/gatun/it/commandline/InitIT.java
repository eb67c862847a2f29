// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code gatun init}: what it lays out is served, and what it refuses leaves nothing behind. */
class InitIT {
    @TempDir
    Path folder;

    @Test
    void shouldLayOutAModelThatIsServed() throws IOException, InterruptedException {
        Path file = folder.resolve("two inputs.onnx");
        Files.copy(ServerProcess.exampleModels().resolve("simple/1/model.onnx"), file);
        Path repository = folder.resolve("served/models");
        ServerProcess init = init(0, file, "--name=sums", "--model-repository=" + repository);
        Path model = repository.resolve("sums");
        assertThat(init.output()).contains("Laid out " + model, "gatun serve " + repository);
        assertThat(files(repository)).containsExactly("sums", "sums/1", "sums/1/model.onnx", "sums/config.pbtxt");
        assertThat(Files.readString(model.resolve("config.pbtxt")))
                .contains("name: \"sums\"\n", "platform: \"onnxruntime_onnx\"\n", "max_batch_size: ")
                .containsPattern("input \\{\\R  name: \"INPUT0\"\\R  data_type: TYPE_INT32\\R  dims: \\[16]\\R}")
                .contains("# instance_group [", "# version_policy {");

        try (ServerProcess server = ServerProcess.launch(repository);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.get("/v2/models/sums/versions/1/ready").statusCode())
                    .isEqualTo(200);
            String input = "{\"name\":\"INPUT%d\",\"datatype\":\"INT32\",\"shape\":[1,16],\"data\":[%s]}";
            String ones = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
            assertThat(http.post(
                                    "/v2/models/sums/infer",
                                    "{\"inputs\":[" + input.formatted(0, ones) + "," + input.formatted(1, ones) + "]}")
                            .body())
                    .contains("[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "pytorch/models/weights_beside/1/model.pt2, kept.pt2, model.pt2, torch_aoti",
        "trees/models/xgb_binary/1/xgboost.json, houses.json, xgboost.json, fil",
        "trees/models/lgb_regression/1/model.txt, model.txt, model.txt, fil",
        "tensorflow/models/half_plus_two/1, half, model.savedmodel, tensorflow"
    })
    void shouldLayOutTheModelsOfOtherEngines(String example, String name, String laidOut, String engine)
            throws IOException {
        assumeThat(System.getProperty("os.arch"))
                .as("TensorFlow's library, PyTorch's library and LightGBM's library are for x86-64")
                .isEqualTo("amd64");
        Path source = ServerProcess.root().resolve("examples").resolve(example);
        Path model = folder.resolve(name);
        if (Files.isDirectory(source)) {
            Files.createDirectory(model);
            Files.copy(source.resolve("saved_model.pb"), model.resolve("saved_model.pb"));
        } else {
            Files.copy(source, model);
        }
        Path weights = source.resolveSibling("model.safetensors");
        if (Files.exists(weights)) {
            Files.copy(weights, folder.resolve("kept.safetensors"));
        }
        Path repository = folder.resolve("models");
        init(0, model, "--model-repository=" + repository);
        Path place = repository.resolve(name.replaceFirst("\\..*", ""));
        assertThat(place.resolve("1").resolve(laidOut)).exists();
        assertThat(Files.exists(place.resolve("1/model.safetensors"))).isEqualTo(Files.exists(weights));
        assertThat(Files.readString(place.resolve("config.pbtxt"))).contains(engine, "input {", "output {");
    }

    @Test
    void shouldTakeTheNameOfTheFileAndAddToARepositoryThatIsThere() throws IOException {
        Path file = folder.resolve("resnet.onnx");
        Files.copy(ServerProcess.exampleModels().resolve("simple/1/model.onnx"), file);
        Files.writeString(folder.resolve("resnet.onnx.bak"), "not named in the model");
        Path repository = Files.createDirectories(folder.resolve("models"));
        Files.createDirectories(repository.resolve("other/1"));
        init(0, file, "--model-repository=" + repository);
        assertThat(files(repository))
                .containsExactly(
                        "other", "other/1", "resnet", "resnet/1", "resnet/1/model.onnx", "resnet/config.pbtxt");

        assertThat(init(2, file, "--model-repository=" + repository).log())
                .contains("'" + repository.resolve("resnet") + "' is there already, and is left as it is");
        assertThat(init(2, repository.resolve("resnet")).log())
                .contains("is laid out already; serve it with: gatun serve");
        assertThat(init(2, repository).log()).contains("is a model repository already");
    }

    @Test
    void shouldSayWhatIsWrongWithAModelAndLeaveNothing() throws IOException {
        Path file = folder.resolve("broken.onnx");
        Files.writeString(file, "no model at all");
        Path repository = folder.resolve("a/b");
        ServerProcess init = init(1, file, "--model-repository=" + repository);
        assertThat(init.output()).contains("broken: 1 problem", file.toString(), "Nothing was laid out.");
        assertThat(folder.resolve("a")).doesNotExist();
    }

    @Test
    void shouldRefuseWhatIsNoModelAndWhatIsNoName() throws IOException {
        assertThat(init(2, folder.resolve("away.onnx")).log()).contains("there is no file and no folder");
        Path file = folder.resolve("m.onnx");
        Files.copy(ServerProcess.exampleModels().resolve("simple/1/model.onnx"), file);
        Path repository = folder.resolve("models");
        for (String name : List.of("a/b", "..", ".hidden", " ", "a\nb")) {
            assertThat(init(2, file, "--name=" + name, "--model-repository=" + repository)
                            .log())
                    .contains("is none for a model: expected a folder's name");
        }
        assertThat(repository).doesNotExist();
    }

    private static ServerProcess init(int status, Path model, String... flags) {
        ServerProcess init = ServerProcess.run(Stream.concat(Stream.of("init", model.toString()), Stream.of(flags))
                .toArray(String[]::new));
        assertThat(init.awaitExit(Duration.ZERO))
                .as(() -> init.log() + init.output())
                .isEqualTo(status);
        return init;
    }

    private static List<String> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.skip(1)
                    .map(file -> folder.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }
}
