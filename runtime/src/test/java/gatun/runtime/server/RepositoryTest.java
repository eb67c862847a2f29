// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class RepositoryTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            """;

    @TempDir
    Path directory;

    private Path repository;
    private TestServer test;

    @BeforeEach
    void prepare() throws IOException {
        repository = Files.createDirectories(directory.resolve("repository"));
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        test.close();
        if (test.backend != null) {
            assertThat(test.backend.open).as("models and instances left open").hasValue(0);
        }
    }

    @Test
    void shouldServeTheVersionsThatThePolicyChooses() {
        test.model("latest", MODEL, 1, 3, 20)
                .model("all", MODEL + "version_policy { all { } }", 1, 3)
                .open(ScriptedBackend::copy);
        assertThat(test.server().index())
                .extracting(status -> status.name() + " " + status.version() + " " + status.state())
                .containsExactly("all 1 READY", "all 3 READY", "latest 20 READY");
        assertThat(test.server().model("all", "").versionText()).isEqualTo("3");
        assertThat(test.server().model("all", "1").readyVersions()).containsExactly("1", "3");
        assertThat(test.server().ready()).isTrue();
    }

    @Test
    void shouldLeaveWhatIsNoVersionAlone() throws IOException {
        test.model("m", MODEL + "version_policy { all { } }", 0, 7);
        for (String name : List.of("007", "latest", "1a", "99999999999999999999")) {
            Files.createDirectories(repository.resolve("m").resolve(name));
        }
        for (String name : List.of(".git", "lost+found", "__MACOSX")) {
            Files.createDirectories(repository.resolve(name));
        }
        Files.writeString(repository.resolve("README"), "no model");
        test.open(ScriptedBackend::copy);
        assertThat(test.server().index()).extracting(ModelStatus::version).containsExactly("0", "7");
    }

    @Test
    void shouldSayWhyAModelIsNotThereAndServeTheOthers() {
        test.model("bad_config", "backend: \"scripted\"\nmax_batch: 3")
                .model("good", MODEL)
                .model("no_engine", MODEL.replace("scripted", "tensorflow"))
                .model("no_openvino", MODEL.replace("scripted", "openvino"))
                .model("no_version", MODEL, new long[0])
                .model("other_versions", MODEL + "version_policy { specific { versions: [ 2, 3 ] } }", 1)
                .model("no_start", MODEL + "instance_group [ { count: 10 } ]")
                .open(ScriptedBackend::copy);
        assertThat(reason("bad_config")).isEqualTo("config.pbtxt:2:1: unknown field 'max_batch' in ModelConfig");
        assertThat(reason("no_engine"))
                .isEqualTo(
                        "unable to find backend library for backend 'tensorflow', try specifying runtime on the model"
                                + " configuration. Known backends: scripted");
        assertThat(reason("no_openvino"))
                .isEqualTo("unable to find backend library for backend 'openvino', try specifying runtime on the model"
                        + " configuration. Known backends: scripted; no engine here runs OpenVINO's IR (model.xml"
                        + " with model.bin): serve the ONNX model or the SavedModel that it was made of. For a"
                        + " model.onnx write backend: \"onnxruntime\"");
        assertThat(reason("no_version"))
                .isEqualTo("at least one version must be available under the version policy of model 'no_version'");
        assertThat(reason("other_versions"))
                .isEqualTo("at least one version must be available under the version policy of model 'other_versions':"
                        + " the policy asks for 2 and 3; there is 1");
        assertThat(reason("no_start")).isEqualTo("the tenth instance never starts");
        assertThat(reason("good")).isEmpty();
        assertThat(test.server().ready()).isFalse();
        assertThat(test.server().statistics()).extracting(ModelStatistics::name).containsExactly("good");
        assertThat(test.server().model("good", "").ready()).isTrue();
    }

    @Test
    void shouldSayWhatAnEngineMisses() {
        test.model("a", MODEL)
                .model("b", MODEL)
                .open(ScriptedBackend::copy, options -> options.backendOption(TestServer.BACKEND, "missing", "true"));
        assertThat(reason("a")).isEqualTo("the library of 'scripted' is missing; install it");
        assertThat(reason("b")).isEqualTo("the library of 'scripted' is missing; install it");
    }

    @Test
    void shouldCountAsReadyWithoutAllModelsWhenReadinessIsNotStrict() {
        test.model("bad", "nonsense")
                .open(ScriptedBackend::copy, options -> options.models(ChangedSettings.readyWithoutAllModels()));
        assertThat(test.server().ready()).isTrue();
    }

    @Test
    void shouldRefuseANameThatTwoRepositoriesHave() throws IOException {
        Path second = Files.createDirectories(directory.resolve("second"));
        Files.createDirectories(second.resolve("m"));
        test.model("m", MODEL).open(ScriptedBackend::copy, options -> options.repository(second));
        assertThat(test.server().index()).singleElement().satisfies(status -> {
            assertThat(status.version()).isEmpty();
            assertThat(status.state()).isEqualTo(ModelState.UNAVAILABLE);
            assertThat(status.reason()).isEqualTo("model 'm' appears in two or more repositories; remove all but one");
        });
    }

    @Test
    void shouldLoadOnlyTheNamedModels() {
        test.model("a", MODEL)
                .model("b", MODEL)
                .open(ScriptedBackend::copy, options -> options.onlyModels(List.of("b", "c")));
        assertThat(test.server().index())
                .extracting(status -> status.name() + " " + status.state())
                .containsExactly("a UNKNOWN", "b READY", "c UNAVAILABLE");
        assertThat(reason("c")).isEqualTo("there is no directory 'c' in the model repository; it holds: a, b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "..", ".", "a/b", "../../etc"})
    void shouldRefuseANameThatClimbs(String name) {
        assertThatThrownBy(() -> test.model("a", MODEL)
                        .open(ScriptedBackend::copy, options -> options.onlyModels(List.of(name))))
                .isInstanceOf(GatunException.class)
                .hasMessageMatching(
                        "Model name cannot be empty.*|invalid model name '.*', model name must not contain path"
                                + " traversal characters");
    }

    @Test
    void shouldFollowALinkOutOfTheRepository() throws IOException {
        Path elsewhere = directory.resolve("elsewhere");
        new TestServer(elsewhere).model("real", MODEL);
        Files.createSymbolicLink(repository.resolve("linked"), elsewhere.resolve("real"));
        test.open(ScriptedBackend::copy);
        assertThat(reason("linked")).isEmpty();
        assertThat(test.server().model("linked", "1").name()).isEqualTo("linked");
    }

    @Test
    void shouldSayThatTheRepositoryIsNoDirectory() {
        assertThatThrownBy(() ->
                        test.open(ScriptedBackend::copy, options -> options.repository(directory.resolve("absent"))))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("absent")
                .hasMessageContaining("is not a directory");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    x     | ''   | NOT_FOUND        | Request for unknown model: 'x' is not found
                    bad   | ''   | NOT_FOUND        | Request for unknown model: 'bad' has no available versions
                    m     | 2    | NOT_FOUND        | Request for unknown model: 'm' version 2 is not found
                    half  | 1    | UNAVAILABLE      | Request for unknown model: 'half' version 1 is not at ready state
                    m     | a    | INVALID_ARGUMENT | failed to get model version from specified version string 'a' (details: stol), version should be an integral value > 0
                    m     | -    | INVALID_ARGUMENT | failed to get model version from specified version string '-' (details: stol), version should be an integral value > 0
                    x     | -3   | INVALID_ARGUMENT | invalid model version specified '-3' , version should be an integral value > 0
                    m     | 99999999999999999999 | INVALID_ARGUMENT | failed to get model version from specified version string '99999999999999999999' (details: stol), version should be an integral value > 0
                    """)
    void shouldRefuseALookUpWithTheProtocolsText(String model, String version, ErrorCode code, String text) {
        test.model("m", MODEL)
                .model("bad", "nonsense")
                .model("half", MODEL + "instance_group [ { count: 10 } ]")
                .open(ScriptedBackend::copy);
        assertThatThrownBy(() -> test.server().model(model, version))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1abc", " 1", "+1", "01"})
    void shouldReadTheNumberThatAVersionBeginsWith(String version) {
        test.model("m", MODEL).open(ScriptedBackend::copy);
        assertThat(test.server().model("m", version).version()).isEqualTo(1);
    }

    @Test
    void shouldDescribeTensorsAsClientsShapeThem() {
        test.model("m", MODEL + "max_batch_size: 4").open(ScriptedBackend::copy);
        ModelVersion model = test.server().model("m", "");
        assertThat(model.inputs()).singleElement().satisfies(spec -> assertThat(spec.shape())
                .hasToString("[-1,2]"));
        assertThat(model.outputs()).singleElement().satisfies(spec -> assertThat(spec.shape())
                .hasToString("[-1,2]"));
        assertThat(model.platform()).isEqualTo("scripted");
    }

    @Test
    void shouldReadLabelsOnlyFromTheModelsDirectory() {
        String labelled = MODEL.replace("output [ {", "output [ { label_filename: \"%s\"");
        test.model("absent", labelled.formatted("labels.txt"))
                .model("climbs", labelled.formatted("../../secret.txt"))
                .open(ScriptedBackend::copy);
        assertThat(reason("absent")).startsWith("cannot read label file 'labels.txt' of output 'OUT'");
        assertThat(reason("climbs"))
                .isEqualTo("label_filename '../../secret.txt' of output 'OUT' leads out of the model's directory");
    }

    private String reason(String model) {
        return test.server().index().stream()
                .filter(status -> status.name().equals(model))
                .map(ModelStatus::reason)
                .findFirst()
                .orElseThrow();
    }
}
