// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code gatun check}: its output for good and bad repositories, and its exit status. */
class CheckIT {
    @TempDir
    Path folder;

    @Test
    void shouldCallTheExamplesGoodAndShowThemAsCompleted() {
        ServerProcess check =
                ServerProcess.run("check", ServerProcess.exampleModels().toString());
        assertThat(check.awaitExit(Duration.ZERO)).as(check.log()).isZero();
        assertThat(check.output())
                .contains("digits: good, version 1", "simple_ensemble: good", "models would be served.")
                // softmax has no configuration at all: it comes from the model's file
                .containsPattern("name: \"softmax\"\\R +platform: \"onnxruntime_onnx\"")
                .contains("default_model_filename: \"model.onnx\"")
                .containsPattern(
                        "digits: good, version 1\\R +threads of each instance: 1, as intra_op_thread_count says")
                .containsPattern("simple: good, version 1\\R +threads of a run: [0-9]+.* for [0-9]+ instance")
                .containsPattern("identity_fp32: good, version 1\\R +input 'INPUT0' in shared memory: in place")
                .contains("input 'INPUT0' in shared memory: copied: BYTES are always copied");
        assertThat(check.log()).isEmpty();
    }

    @Test
    void shouldTellFileAndLineAndWhatToWriteInstead() throws IOException {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.simple("good", "", 1);
        models.simple("typo", "", 1);
        models.config("typo", ModelRepositoryFolder.simpleConfig().replace("max_batch_size", "max_batchsize"));
        models.simple("datatype", "", 1);
        models.config("datatype", ModelRepositoryFolder.simpleConfig().replaceFirst("TYPE_INT32", "TYPE_FLOAT"));
        models.simple("dims", "", 1);
        models.config("dims", ModelRepositoryFolder.simpleConfig().replaceFirst("\\[ 16 ]", "[ 17 ]"));
        models.simple("isolated", "", 1);
        models.config(
                "isolated",
                ModelRepositoryFolder.simpleConfig().replaceFirst("\\[ 16 ]", "[ 17 ]")
                        + "parameters { key: \"isolation\" value { string_value: \"process\" } }\n");
        models.simple("several", """

                dynamic_batching { preferred_batch_size: [ 4, 64 ] }
                instance_group [ { kind: KIND_CPU gpus: [ 0 ] } ]
                """, 1);
        Files.createDirectories(folder.resolve("empty"));

        ServerProcess check = ServerProcess.run("check", "--quiet", folder.toString());
        assertThat(check.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(check.output())
                .contains("good: good, version 1")
                .contains(
                        folder.resolve("typo/config.pbtxt") + ":" + line("typo", "max_batchsize")
                                + ":1: unknown field 'max_batchsize' in ModelConfig",
                        "did you mean 'max_batch_size'?")
                .contains(
                        folder.resolve("datatype/config.pbtxt") + ":" + line("datatype", "TYPE_FLOAT") + ":",
                        "write TYPE_FP32")
                .contains(
                        folder.resolve("dims/config.pbtxt") + ":" + line("dims", "17") + ":",
                        "complete shape [-1,17]",
                        "the model's own file says:")
                .contains(
                        folder.resolve("isolated/config.pbtxt") + ":" + line("isolated", "17") + ":",
                        "complete shape [-1,17]")
                .contains(
                        "several: 2 problems",
                        folder.resolve("several/config.pbtxt") + ":" + line("several", "preferred_batch_size") + ":",
                        folder.resolve("several/config.pbtxt") + ":" + line("several", "gpus") + ":",
                        "leave gpus out, or write kind: KIND_GPU")
                .contains(folder.resolve("empty") + ": ", "add a folder named by the version's number")
                .endsWith("6 of 7 models would not be served.\n");
        assertThat(check.log()).isEmpty();
    }

    @Test
    void shouldSayWhatToDoWithModelsThatLieWrong() throws IOException {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        byte[] model = ModelRepositoryFolder.simpleModelFile();
        for (String name : List.of("pointer", "empty", "cut", "renamed", "lettered", "flat")) {
            models.simple(name, "", 1);
            Files.delete(folder.resolve(name).resolve("config.pbtxt"));
        }
        Files.writeString(folder.resolve("pointer/1/model.onnx"), """
                version https://git-lfs.github.com/spec/v1
                oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
                size 12345
                """);
        Files.write(folder.resolve("empty/1/model.onnx"), new byte[0]);
        Files.write(folder.resolve("cut/1/model.onnx"), Arrays.copyOf(model, model.length / 2));
        Files.move(folder.resolve("renamed/1/model.onnx"), folder.resolve("renamed/1/resnet.onnx"));
        Files.move(folder.resolve("lettered/1"), folder.resolve("lettered/v1"));
        Files.move(folder.resolve("flat/1/model.onnx"), folder.resolve("flat/model.onnx"));
        Files.delete(folder.resolve("flat/1"));
        Files.write(folder.resolve("loose.onnx"), model);

        ServerProcess check = ServerProcess.run("check", "--quiet", folder.toString());
        assertThat(check.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(check.output())
                .contains("model.onnx is a Git LFS pointer", "run 'git lfs pull'")
                .contains("model.onnx is empty; copy")
                .contains("model.onnx is not a valid ONNX file", "it was cut off: copy it again")
                .contains("holds 'resnet.onnx': rename it to model.onnx")
                .contains("folder 'v1' is no version: rename it to 1")
                .contains("model.onnx lies outside of a version's folder: move it to 1/model.onnx")
                .contains(
                        "loose.onnx is not served as it lies there",
                        "move it to " + folder.resolve("loose/1/model.onnx"));

        ServerProcess cloud = ServerProcess.run("check", "s3://bucket/models");
        assertThat(cloud.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(cloud.log()).contains("fetch it first with 'gatun pull s3://bucket/models DIR'");
    }

    @Test
    void shouldCheckOneModelWhereverItLies() throws IOException {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.simple("good", "", 1);
        models.simple("typo", "max_batchsize: 8", 1);
        Path loose = Files.write(folder.resolve("loose.onnx"), ModelRepositoryFolder.simpleModelFile());
        ServerProcess good =
                ServerProcess.run("check", "--quiet", folder.resolve("good").toString(), loose.toString());
        assertThat(good.awaitExit(Duration.ZERO)).as(good.transcript()).isZero();
        assertThat(good.output())
                .contains("good: good, version 1", "loose: good, version 1", "All 2 models would be served.");

        Files.write(loose, new byte[0]);
        ServerProcess bad = ServerProcess.run("check", folder.resolve("typo").toString(), loose.toString());
        assertThat(bad.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(bad.output())
                .contains(
                        folder.resolve("typo/config.pbtxt") + ":" + line("typo", "max_batchsize"),
                        loose + ": loose.onnx is empty");
    }

    @Test
    void shouldLookAtOneModelOnly() throws IOException {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.simple("good", "", 1);
        models.simple("bad", "nonsense: 1", 1);
        ServerProcess check = ServerProcess.run("check", "--model=good", folder.toString());
        assertThat(check.awaitExit(Duration.ZERO)).isZero();
        assertThat(check.output()).endsWith("The model would be served.\n").doesNotContain("bad");
    }

    @Test
    void shouldCheckModelsOfEqualNamesEachInItsRepository() throws IOException {
        ModelRepositoryFolder first = repository("first");
        first.delay("shared", 0);
        ensembleOfShared(first, "asks_first");
        ModelRepositoryFolder second = repository("second");
        second.delay("shared", 0);
        second.config("shared", "backend: \"delay\"\nmax_batchsize: 8\n");
        ensembleOfShared(second, "asks_second");
        ModelRepositoryFolder third = repository("third");
        third.delay("shared", 0);
        ensembleOfShared(repository("fourth"), "asks_any");
        String[] paths = Stream.of("first", "second", "third", "fourth")
                .map(name -> folder.resolve(name).toString())
                .toArray(String[]::new);

        ServerProcess check = check("--model-namespacing=true", paths);
        assertThat(check.awaitExit(Duration.ZERO)).as(check.transcript()).isEqualTo(1);
        assertThat(check.output())
                .contains(
                        folder.resolve("first") + "::shared: good, version 1",
                        folder.resolve("third") + "::shared: good, version 1",
                        folder.resolve("first") + "::asks_first: good, version 1",
                        folder.resolve("second") + "::shared: 1 problem",
                        folder.resolve("second/shared/config.pbtxt") + ":2:1: unknown field 'max_batchsize'",
                        folder.resolve("second") + "::asks_second: 1 problem",
                        folder.resolve("fourth") + "::asks_any: 1 problem",
                        folder.resolve("fourth/asks_any").toString())
                .endsWith("3 of 6 models would not be served.\n");

        ServerProcess unique = check("--model-namespacing=false", paths);
        assertThat(unique.awaitExit(Duration.ZERO)).as(unique.transcript()).isEqualTo(1);
        assertThat(unique.output())
                .contains(
                        "shared: 1 problem", "model 'shared' appears in two or more repositories; remove all but one");
    }

    private static ServerProcess check(String flag, String... paths) {
        return ServerProcess.run(Stream.concat(Stream.of("check", "--quiet", flag), Stream.of(paths))
                .toArray(String[]::new));
    }

    private ModelRepositoryFolder repository(String name) throws IOException {
        return new ModelRepositoryFolder(Files.createDirectories(folder.resolve(name)));
    }

    private static void ensembleOfShared(ModelRepositoryFolder repository, String name) throws IOException {
        repository.delay(name, 0);
        repository.config(name, """
                platform: "ensemble"
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                ensemble_scheduling { step [ { model_name: "shared" model_version: -1
                  input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } } ] }
                """);
    }

    @Test
    void shouldExitWithTwoWhereThereIsNothingToCheck() {
        Path missing = folder.resolve("nowhere");
        ServerProcess check = ServerProcess.run("check", missing.toString());
        assertThat(check.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(check.log()).contains(missing.toString(), "there is no file and no folder");

        ServerProcess wrongName = ServerProcess.run(
                "check", "--model=simpel", ServerProcess.exampleModels().toString());
        assertThat(wrongName.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(wrongName.log()).contains("no model [simpel]", "simple");
    }

    private String line(String model, String part) throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve(model).resolve("config.pbtxt"));
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(part)) {
                return Integer.toString(i + 1);
            }
        }
        throw new AssertionError(part + " is not in the configuration of " + model);
    }
}
