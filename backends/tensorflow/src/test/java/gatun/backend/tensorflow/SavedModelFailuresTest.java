// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that cannot be served, beside others that can, and requests that fail; nothing is left of either. */
@Timeout(120)
class SavedModelFailuresTest {
    private static final int MANY = 10_000;

    @TempDir
    private Path folder;

    private ServedModels models;

    @BeforeEach
    void open() throws IOException {
        byte[] whole = Files.readAllBytes(SavedModelFile.in(ServedModels.EXAMPLES.resolve("half_plus_two/1")));
        model("truncated", Arrays.copyOf(whole, whole.length / 2), "");
        model("empty", new byte[0], "");
        model("other_tag", whole, "parameters { key: \"TF_GRAPH_TAG\" value { string_value: \"train\" } }");
        model("other_signature", whole, "parameters { key: \"TF_SIGNATURE_DEF\" value { string_value: \"none\" } }");
        model(
                "trained",
                Files.readAllBytes(SavedModelFile.in(ServedModels.EXAMPLES.resolve("two_tags/1"))),
                "parameters { key: \"TF_GRAPH_TAG\" value { string_value: \"train\" } }");
        model("threads", whole, "parameters { key: \"TF_NUM_INTRA_THREADS\" value { string_value: \"one\" } }");
        models = ServedModels.open(ServedModels.EXAMPLES, Path.of("src/test/models"), folder);
    }

    private void model(String name, byte[] file, String config) throws IOException {
        Path version = Files.createDirectories(folder.resolve(name).resolve("1"));
        Files.write(SavedModelFile.in(version), file);
        Files.writeString(folder.resolve(name).resolve("config.pbtxt"), "backend: \"tensorflow\" " + config);
    }

    @AfterEach
    void close() {
        if (models != null) {
            models.close();
        }
    }

    @Test
    void shouldSayWhyAModelCannotBeServedAndServeTheOthers() {
        Map<String, String> reasons = models.server().index().stream()
                .filter(status -> status.state() != ModelState.READY)
                .collect(Collectors.toMap(ModelStatus::name, ModelStatus::reason));
        assertThat(reasons)
                .containsOnlyKeys(
                        "truncated",
                        "empty",
                        "other_tag",
                        "other_signature",
                        "threads",
                        "unknown_operation",
                        "sparse",
                        "lost_variables",
                        "wrong_default");
        assertThat(reasons.get("truncated")).contains("cannot read its saved_model.pb");
        assertThat(reasons.get("empty")).contains("saved_model.pb is empty; copy the model's file here again");
        assertThat(reasons.get("other_tag")).contains("has no graph with the tags [train]");
        assertThat(reasons.get("other_signature")).contains("has no signature 'none'");
        assertThat(reasons.get("threads")).contains("'TF_NUM_INTRA_THREADS' is 'one'; expected a number >= 0");
        assertThat(reasons.get("unknown_operation"))
                .contains("TensorFlow cannot load it")
                .contains("NoSuchOperation");
        assertThat(reasons.get("sparse"))
                .contains("[sparse] with sparse tensors or datatypes that no protocol can carry");
        assertThat(reasons.get("lost_variables")).contains("variables/variables.index is missing");
        assertThat(reasons.get("wrong_default"))
                .contains("the default of input 'x' is of type DT_STRING; expected that of the input, FP32");
        assertThat(models.answer(models.floats(models.request("half_plus_two", ""), "x", Shape.of(1, 1), 2)))
                .containsExactly(3);
    }

    @Test
    void shouldServeTheSignaturesThatItCan() {
        assertThat(models.server().model("sparse_too", "").entryPoints().keySet())
                .containsExactly("serving_default");
        assertThat(models.answer(models.floats(models.request("sparse_too", ""), "x", Shape.of(3), 1, 2, 4)))
                .containsExactly(7);
    }

    /** As graphs of TensorFlow 1 have them. */
    @ParameterizedTest
    @ValueSource(strings = {"main_op", "legacy_init_op"})
    void shouldInitialiseVariablesAndGiveTheirReferencesAsTheirValues(String model) {
        assertThat(models.answer(models.request(model, ""))).containsExactly(3, 4);
    }

    @Test
    void shouldConfigureAModelOfComplexNumbers() {
        InferenceRequest request = models.request("conjugate", "");
        models.input(request, new TensorSpec("x", Datatype.COMPLEX64, Shape.of(1)), 2 * Float.BYTES)
                .copyFrom(MemorySegment.ofArray(new float[] {1, 2}));
        assertThat(models.answer(request)).containsExactly(1, -2);
    }

    @Test
    void shouldRunTheGraphWithTheTagsThatAModelNames() {
        assertThat(models.answer(models.floats(models.request("two_tags", ""), "x", Shape.of(1, 1), 2)))
                .containsExactly(3);
        assertThat(models.answer(models.floats(models.request("trained", ""), "x", Shape.of(1, 1), 2)))
                .containsExactly(5);
    }

    @Test
    void shouldRunTheGraphWithTheTagsOfTheOptionWhereAModelNamesNone() {
        models.close();
        models = ServedModels.open(
                options -> options.backendOption(TensorFlowBackend.NAME, "tags", "gpu, serve"), ServedModels.EXAMPLES);
        assertThat(models.answer(models.floats(models.request("two_tags", ""), "x", Shape.of(1, 1), 2)))
                .containsExactly(4);
    }

    /** Sends the request again and again; it must fail each time, and leave nothing. */
    private void failManyTimes(Supplier<InferenceRequest> request, ErrorCode code, String text) {
        long before = LiveTensors.count();
        for (int i = 0; i < MANY; i++) {
            assertThatThrownBy(() -> models.answer(request.get()))
                    .isInstanceOfSatisfying(GatunException.class, failure -> assertThat(failure.code())
                            .isEqualTo(code))
                    .hasMessageContaining(text);
        }
        assertThat(LiveTensors.count()).as("live tensors").isEqualTo(before);
    }

    @Test
    void shouldFreeOutputsThatNoProtocolCanCarry() {
        failManyTimes(
                () -> models.floats(models.request("untrue", ""), "x", Shape.of(2), 1, 2),
                ErrorCode.UNSUPPORTED,
                "output 'y' has elements of TensorFlow's type 20, which no protocol can carry");
    }

    @Test
    void shouldFreeInputsThatTheEngineRefuses() {
        failManyTimes(
                () -> models.strings(
                        models.request("half_plus_two", "regress_x_to_y"), "inputs", ServedModels.text("no example")),
                ErrorCode.INVALID_ARGUMENT,
                "Could not parse example input");
    }

    @Test
    void shouldFreeStringsThatDoNotFit() {
        byte[] fits = ServedModels.text("x".repeat(100));
        failManyTimes(
                () -> {
                    InferenceRequest request = models.strings(models.request("strings", ""), "left", fits, fits);
                    return models.strings(request, "right", fits);
                },
                ErrorCode.INVALID_ARGUMENT,
                "");
    }

    @Test
    void shouldFreeWhatIsGivenUp() {
        failManyTimes(
                () -> {
                    InferenceRequest request =
                            models.floats(models.request("half_plus_two", ""), "x", Shape.of(1, 1), 2);
                    request.cancellation().cancel();
                    return request;
                },
                ErrorCode.CANCELLED,
                "");
    }
}
