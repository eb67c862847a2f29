// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.EntryPoint;
import gatun.spi.model.ConfigurationCompletion;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads models without the engine. */
class SavedModelFileTest {
    private static final Path MODELS = Path.of("..", "..", "examples", "tensorflow", "models");

    @TempDir
    Path folder;

    private static SavedModelFile read(String model) {
        return SavedModelFile.read(MODELS.resolve(model).resolve("1"), Set.of("serve"), model);
    }

    @Test
    void shouldReadTagsAndSignatures() {
        SavedModelFile file = read("counter");
        assertThat(file.tags()).containsExactly("serve");
        assertThat(file.signatures().keySet())
                .containsExactly("__saved_model_init_op", "read", "replace", "serving_default");
    }

    @Test
    void shouldKnowWhichFunctionsMayKeepWhatTheyAreGiven() {
        Operations operations = read("counter").operations();
        assertThat(operations.mayKeepInputs(List.of("new"))).isTrue();
        assertThat(operations.mayKeepInputs(List.of("value"))).isFalse();
        assertThat(read("half_plus_two").operations().mayKeepInputs(List.of("y", "from_x/y")))
                .isFalse();
    }

    @Test
    void shouldPutTheDefaultSignatureFirst() {
        List<EntryPoint> entryPoints = Signature.of(read("half_plus_two"), "", "m");
        assertThat(entryPoints).hasSize(6).first().satisfies(first -> {
            assertThat(first.name()).isEqualTo("serving_default");
            assertThat(first.method()).isEqualTo("tensorflow/serving/predict");
            assertThat(first.inputs().getFirst().spec().shape()).isEqualTo(Shape.of(-1, 1));
        });
        assertThat(Signature.of(read("half_plus_two"), "regress_x_to_y", "m")
                        .getFirst()
                        .name())
                .isEqualTo("regress_x_to_y");
        assertThatThrownBy(() -> Signature.of(read("half_plus_two"), "none", "m"))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("model 'm' has no signature 'none'");
    }

    @Test
    void shouldCompleteAConfiguration() {
        EntryPoint entryPoint = Signature.of(read("half_plus_two"), "", "m").getFirst();
        ModelConfig empty = ModelConfig.newBuilder().setName("m").build();
        ModelConfig batched =
                new ConfigurationCompletion(empty, entryPoint.inputs(), entryPoint.outputs(), 4, true).complete();
        assertThat(batched.getMaxBatchSize()).isEqualTo(4);
        assertThat(batched.hasDynamicBatching()).isTrue();
        assertThat(batched.getInput(0).getDimsList()).containsExactly(1L);
        ModelConfig plain =
                new ConfigurationCompletion(empty, entryPoint.inputs(), entryPoint.outputs(), 0, true).complete();
        assertThat(plain.getMaxBatchSize()).isZero();
        assertThat(plain.getInput(0).getDimsList()).containsExactly(-1L, 1L);
        ConfigCheck.run(plain, entryPoint);
        ConfigCheck.run(batched, entryPoint);
        ModelConfig wrong = plain.toBuilder()
                .setInput(0, plain.getInput(0).toBuilder().clearDims().addDims(5))
                .build();
        assertThatThrownBy(() -> ConfigCheck.run(wrong, entryPoint)).hasMessageContaining("model provides [-1,1]");
    }

    @Test
    void shouldRefuseAFileWithoutTheGraphThatIsAskedFor() {
        assertThatThrownBy(() -> SavedModelFile.read(MODELS.resolve("counter/1"), Set.of("train"), "m"))
                .hasMessageContaining("no graph with the tags [train]; the tags of those that it has are [[serve]]");
    }

    @Test
    void shouldTakeTheGraphThatHasTheTagsAndNoOthers() {
        Path model = MODELS.resolve("two_tags/1");
        assertThat(SavedModelFile.read(model, Set.of("gpu", "serve"), "m").tags())
                .containsExactly("serve", "gpu");
        assertThat(SavedModelFile.read(model, Set.of("serve"), "m").tags()).containsExactly("serve");
        assertThatThrownBy(() -> SavedModelFile.read(model, Set.of("gpu"), "m"))
                .hasMessageContaining("are [[serve, gpu], [serve], [train]]");
    }

    @Test
    void shouldRefuseAModelWhoseVariablesAreNotThere() throws IOException {
        Path model = Path.of("src/test/models/lost_variables/1");
        SavedModelFile file = SavedModelFile.read(model, Set.of("serve"), "m");
        assertThatThrownBy(() -> file.requireVariables(model, "m"))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("variables/variables.index is missing beside its saved_model.pb");
        Files.createDirectory(folder.resolve("variables"));
        Files.createFile(folder.resolve("variables/variables.index"));
        file.requireVariables(folder, "m");
        read("counter").requireVariables(MODELS.resolve("counter/1"), "m");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 100, 900})
    void shouldRefuseAFileThatIsCutShort(int byteSize) throws IOException {
        byte[] whole = Files.readAllBytes(SavedModelFile.in(MODELS.resolve("counter/1")));
        Files.write(SavedModelFile.in(folder), Arrays.copyOf(whole, byteSize));
        assertThatThrownBy(() -> SavedModelFile.read(folder, Set.of("serve"), "m"))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("cannot read its saved_model.pb");
    }
}
