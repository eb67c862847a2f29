// SPDX-License-Identifier: Apache-2.0
package gatun.server.layout;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelParameter;
import gatun.wire.inference.ModelTensorReshape;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The text must mean what the engine has said, whatever names its model has, and with each example in use. */
class ExplainedConfigurationTest {
    private static ModelConfig.Builder config(String input) {
        return ModelConfig.newBuilder()
                .setName("m")
                .setPlatform("onnxruntime_onnx")
                .setBackend("onnxruntime")
                .setDefaultModelFilename("m.onnx")
                .setMaxBatchSize(4)
                .addInstanceGroup(ModelInstanceGroup.newBuilder().setCount(1))
                .addInput(ModelInput.newBuilder()
                        .setName(input)
                        .setDataType(DataType.TYPE_FP32)
                        .addAllDims(List.of(-1L, 3L)))
                .addOutput(ModelOutput.newBuilder()
                        .setName("out")
                        .setDataType(DataType.TYPE_INT64)
                        .addDims(1));
    }

    private static ModelConfig parse(String text) throws TextFormat.ParseException {
        return TextFormat.parse(text, ModelConfig.class);
    }

    @Test
    void shouldSayWhatTheEngineHasFoundAndLeaveDefaultsToTheServer() throws Exception {
        ModelConfig config = config("in")
                .setDynamicBatching(ModelDynamicBatching.getDefaultInstance())
                .putParameters(
                        "p", ModelParameter.newBuilder().setStringValue("v").build())
                .build();
        assertThat(parse(ExplainedConfiguration.of(config, Optional.empty())))
                .isEqualTo(config.toBuilder()
                        .clearBackend()
                        .clearDefaultModelFilename()
                        .clearInstanceGroup()
                        .build());
    }

    @Test
    void shouldWriteAShapeInOneLine() throws Exception {
        ModelConfig config = config("dims: 1")
                .addOutput(ModelOutput.newBuilder()
                        .setName("reshaped")
                        .setDataType(DataType.TYPE_INT8)
                        .addAllDims(List.of(1L, 28L, 28L))
                        .setReshape(ModelTensorReshape.newBuilder().addAllShape(List.of(1L, 784L))))
                .build();
        String text = ExplainedConfiguration.of(config, Optional.empty());
        assertThat(text)
                .contains("  dims: [-1, 3]\n", "  dims: [1]\n", "  dims: [1, 28, 28]\n", "    shape: [1, 784]\n");
        assertThat(parse(text).getOutputList()).isEqualTo(config.getOutputList());
    }

    @Test
    void shouldNotBeLedAstrayByTheNamesOfTensors() throws Exception {
        for (String name : List.of("a\"b", "a\nmax_batch_size: 100", "#", "a\\", "\u0000", "größe")) {
            ModelConfig parsed = parse(ExplainedConfiguration.of(config(name).build(), Optional.empty()));
            assertThat(parsed.getInput(0).getName()).isEqualTo(name);
            assertThat(parsed.getMaxBatchSize()).isEqualTo(4);
        }
    }

    @Test
    void shouldSayWhyRequestsShareNoRuns() throws Exception {
        String text = ExplainedConfiguration.of(config("in").build(), Optional.of("rows\ndepend"));
        assertThat(text).contains("# Without it: rows?depend.\n");
        assertThat(parse(text).hasDynamicBatching()).isFalse();
    }

    /** Whoever takes the comment signs away gets a configuration. */
    @Test
    void shouldGiveExamplesThatCanBeUsed() throws Exception {
        String text = ExplainedConfiguration.of(config("in").build(), Optional.empty());
        StringBuilder used = new StringBuilder();
        text.lines()
                .map(line -> line.matches("# *[a-z_]+ ?[\\[{:].*|# *[]})].*|#  +.*") ? line.substring(1) : line)
                .forEach(line -> used.append(line).append('\n'));
        ModelConfig parsed = parse(used.toString());
        assertThat(parsed.hasDynamicBatching()).isTrue();
        assertThat(parsed.getInstanceGroup(0).getCount()).isEqualTo(2);
        assertThat(parsed.getVersionPolicy().hasAll()).isTrue();
        assertThat(parsed.getModelWarmup(0).getBatchSize()).isEqualTo(1);
        assertThat(parsed.getModelWarmup(0).getInputsOrThrow("in").getDimsList())
                .containsExactly(1L, 3L);
    }
}
