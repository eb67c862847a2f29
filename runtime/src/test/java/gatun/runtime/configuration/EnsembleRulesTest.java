// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EnsembleRulesTest {
    private static final String TENSORS = """
            name: "e" platform: "ensemble"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            """;

    private static String step(String model, String input, String output) {
        return "{ model_name: \"" + model + "\" model_version: -1 input_map { key: \"A\" value: \"" + input
                + "\" } output_map { key: \"B\" value: \"" + output + "\" } }";
    }

    private static String steps(String... steps) {
        return "ensemble_scheduling { step [ " + String.join(", ", steps) + " ] }";
    }

    static Stream<Arguments> shouldRefuseWithTheReason() {
        return Stream.of(
                arguments(
                        TENSORS + "backend: \"b\" " + steps(step("x", "IN", "OUT")),
                        "Ensemble model 'e' must have platform type 'ensemble' and empty backend type"),
                arguments(
                        TENSORS.replace("ensemble", "onnxruntime_onnx") + steps(step("x", "IN", "OUT")),
                        "ensemble scheduling cannot be set for model 'e' whose platform is not ensemble"),
                arguments(TENSORS, "ensemble scheduling must be set for ensemble e whose platform is ensemble"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT")) + " instance_group { count: 1 }",
                        "instance group should not be specified for ensemble 'e'"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT")) + " instance_group { count: 1 kind: KIND_GPU }",
                        "instance group should not be specified for ensemble 'e'"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT")) + " optimization { }",
                        "optimization should not be specified for ensemble 'e'"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT")) + " model_warmup { name: \"w\" }",
                        "model_warmup can not be specified for ensemble 'e'"),
                arguments(TENSORS + "ensemble_scheduling { }", "must specify 'step' for ensemble 'e'"),
                arguments(
                        TENSORS + steps(step("x", "IN", "U"), step("", "U", "OUT")),
                        "must specify 'model_name' in step 1 of ensemble 'e'"),
                arguments(
                        TENSORS + steps("{ model_name: \"x\" output_map { key: \"B\" value: \"OUT\" } }"),
                        "must specify 'input_map' in step 0 of ensemble 'e'"),
                arguments(
                        TENSORS + steps("{ model_name: \"x\" input_map { key: \"A\" value: \"IN\" } }"),
                        "must specify 'output_map' in step 0 of ensemble 'e'"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT"), step("y", "IN", "OUT")),
                        "ensemble tensor 'OUT' can appear in an output map only once for ensemble 'e' step 1"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT"), step("y", "OUT", "IN")),
                        "ensemble tensor 'IN' can appear in an output map only once for ensemble 'e' step 1"),
                arguments(
                        TENSORS + "input [ { name: \"IDLE\" data_type: TYPE_FP32 dims: [ 2 ] } ] "
                                + steps(step("x", "IN", "OUT")),
                        "ensemble input 'IDLE' for ensemble e' is not used"),
                arguments(
                        TENSORS + "output [ { name: \"NONE\" data_type: TYPE_FP32 dims: [ 2 ] } ] "
                                + steps(step("x", "IN", "OUT")),
                        "ensemble output 'NONE' for ensemble e' is not used"),
                arguments(
                        TENSORS + steps(step("x", "IN", "U"), step("y", "V", "OUT"), step("z", "U", "W")),
                        "output 'OUT' for ensemble 'e' is not written: at least one of its depending tensors, 'V', is"
                                + " not connected"),
                arguments(
                        TENSORS
                                + steps(
                                        step("x", "IN", "U"),
                                        step("y", "U", "V"),
                                        step("z", "W", "OUT"),
                                        step("z", "OUT", "W")),
                        "output 'OUT' for ensemble 'e' is not written: at least one of its depending tensors, 'W', is"
                                + " not connected"),
                arguments(
                        TENSORS + steps(step("x", "IN", "OUT"), step("y", "IN", "LOST")),
                        "ensemble tensor 'LOST' is unused in ensemble 'e'"),
                arguments(
                        TENSORS + "max_batch_size: -1 " + steps(step("x", "IN", "OUT")),
                        "'max_batch_size' must be non-negative value for e"));
    }

    @ParameterizedTest
    @MethodSource
    void shouldRefuseWithTheReason(String config, String reason, @TempDir Path directory) {
        assertThatThrownBy(() -> load(config, directory))
                .isInstanceOf(GatunException.class)
                .hasMessage(reason);
    }

    @Test
    void shouldFillInAPlatformAndAVersionPolicyAndNothingElse(@TempDir Path directory) throws Exception {
        String config = TENSORS.replace("platform: \"ensemble\"", "") + steps(step("x", "IN", "OUT"));
        assertThat(load(config, directory))
                .isEqualTo(TextFormat.parse(
                        TENSORS + steps(step("x", "IN", "OUT")) + " version_policy { latest { num_versions: 1 } }",
                        ModelConfig.class));
    }

    private static ModelConfig load(String config, Path directory) throws Exception {
        Files.writeString(directory.resolve("config.pbtxt"), config);
        return ModelConfiguration.of(DeclaredEngines.CATALOG, "e", directory, Optional.of(directory), true, name -> {
            throw new AssertionError("an ensemble needs no backend, and '" + name + "' was asked for");
        });
    }
}
