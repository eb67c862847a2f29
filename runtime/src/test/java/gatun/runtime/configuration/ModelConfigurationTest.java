// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelConfigurationTest {
    private static final String TENSORS = """
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ]
            """;

    @TempDir
    Path directory;

    static Stream<Arguments> shouldRefuseWithTheReason() {
        return Stream.of(
                arguments(
                        "name: \"other\"",
                        "unexpected directory name 'm' for model 'other', directory name must equal model name"),
                arguments("platform: \"caffe\"", "unexpected platform type 'caffe' for m"),
                arguments(
                        "platform: \"onnxruntime_onnx\" backend: \"pytorch\"",
                        "unexpected 'platform' and 'backend' pair, got:onnxruntime_onnx, pytorch"),
                arguments(
                        "platform: \"onnxruntim\" backend: \"onnxruntime\"",
                        "unexpected 'platform' and 'backend' pair, got:onnxruntim, onnxruntime"),
                arguments(
                        "backend: \"b\" runtime: \"libother.so\"",
                        "unable to find backend library 'libother.so' for model 'm', check model config runtime field"),
                arguments(
                        "backend: \"b\" runtime: \"../x/libtriton_b.so\"",
                        "backend library name '../x/libtriton_b.so' escapes backend directory"),
                arguments("backend: \"b\" max_batch_size: -1", "'max_batch_size' must be non-negative value for m"),
                arguments(
                        "backend: \"b\" max_batch_size: 4 dynamic_batching { preferred_batch_size: [ 0 ] }",
                        "dynamic batching preferred size must be positive for m"),
                arguments(
                        "backend: \"b\" max_batch_size: 4 dynamic_batching { preferred_batch_size: [ 5 ] }",
                        "dynamic batching preferred size must be <= max batch size for m"),
                arguments(
                        "backend: \"b\" input { name: \"I\" data_type: TYPE_FP32 dims: 1 is_non_linear_format_io: true }",
                        "non-linear formats of inputs and outputs are only supported for TensorRT platform for m"),
                arguments(
                        "backend: \"b\" dynamic_batching { priority_levels: 2 }",
                        "default priority level must be in range [1, 2] for m"),
                arguments(
                        "backend: \"b\" dynamic_batching { priority_levels: 2 default_priority_level: 1"
                                + " priority_queue_policy { key: 3 value { } } }",
                        "priority queue policy must have priority level in range [1, 2] for m"),
                arguments(
                        "backend: \"b\" dynamic_batching { preserve_ordering: true priority_levels: 2 default_priority_level: 1 }",
                        "Only one priority level is allowed when 'preserve_ordering' is true for m"),
                arguments(
                        "backend: \"b\" dynamic_batching { preserve_ordering: true default_queue_policy"
                                + " { timeout_action: DELAY default_timeout_microseconds: 1 } }",
                        "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for m"),
                arguments(
                        "backend: \"b\" sequence_batching { direct { minimum_slot_utilization: 2 } }",
                        "sequence batching minimum slot utilization must be in range (0.0, 1.0] for m"),
                arguments(
                        "platform: \"ensemble\"",
                        "ensemble scheduling must be set for ensemble m whose platform is ensemble"),
                arguments(
                        "backend: \"b\" ensemble_scheduling { }",
                        "ensemble scheduling cannot be set for model 'm' whose platform is not ensemble"),
                arguments(
                        "backend: \"b\" instance_group [ { name: \"g\" kind: KIND_GPU } ]",
                        "instance group g of model m has kind KIND_GPU but server does not support GPUs"),
                arguments(
                        "backend: \"b\" instance_group [ { kind: KIND_CPU }, { kind: KIND_GPU } ]",
                        "instance group m_1 of model m has kind KIND_GPU but server does not support GPUs"),
                arguments(
                        "backend: \"b\" instance_group [ { name: \"g\" kind: KIND_CPU gpus: [ 0 ] } ]",
                        "instance group g of model m has kind KIND_CPU but specifies one or more GPUs"),
                arguments(
                        "backend: \"b\" input [ { data_type: TYPE_FP32 dims: [ 1 ] } ]",
                        "model input must specify 'name' for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" dims: [ 1 ] } ]",
                        "model input 'T' must specify 'data_type' for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 } ]",
                        "model input 'T' must specify 'dims' for m"),
                arguments(
                        "backend: \"b\" output [ { name: \"T\" data_type: TYPE_FP32 } ]",
                        "model output 'T' must specify 'dims' for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 0 ] } ]",
                        "model input 'T' dimension must be integer >= 1, or -1 to indicate a variable-size dimension"
                                + " for m"),
                arguments(
                        "backend: \"b\" output [ { name: \"T\" data_type: TYPE_FP32 dims: [ 2 ] reshape { shape: [ -2 ] } } ]",
                        "model output 'T' reshape dimensions must be integer >= 1, or -1 to indicate a variable-size"
                                + " dimension"
                                + " for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 5 ] } } ]",
                        "model input 'T' has different size for dims and reshape for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 4, -1 ] reshape { shape: [ 4 ] } } ]",
                        "model input 'T' has different size for dims and reshape for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ -1, -1 ] reshape { shape: [ -1 ] } } ]",
                        "model input 'T' has different number of variable-size dimensions for dims and reshape for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 1 ] reshape { } } ]",
                        "model input 'T' cannot have empty reshape for non-batching model as scalar tensors are not"
                                + " supported"
                                + " for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 format: FORMAT_NHWC dims: [ 1 ] } ]",
                        "model input NHWC/NCHW require 3 dims for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 1 ] is_shape_tensor: true } ]",
                        "shape tensors are only supported for TensorRT platform for m"),
                arguments(
                        "backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 1 ] },"
                                + " { name: \"T\" data_type: TYPE_FP32 dims: [ 1 ] } ]",
                        "model input 'T' is given twice for m"),
                arguments(
                        "backend: \"b\" max_batch_size: 1 max_batch_size: 2",
                        "config.pbtxt:1:46: Non-repeated field \"inference.ModelConfig.max_batch_size\" cannot be overwritten."));
    }

    @ParameterizedTest
    @MethodSource
    void shouldRefuseWithTheReason(String config, String reason) {
        write(config);
        assertThatThrownBy(() -> load(true)).isInstanceOf(GatunException.class).hasMessage(reason);
    }

    @Test
    void shouldPointAtTheLineOfAMistake() {
        write("backend: \"b\"\ninput [\n  { name: \"T\" data_typo: TYPE_FP32 }\n]\n");
        assertThatThrownBy(() -> load(true))
                .hasMessageStartingWith("config.pbtxt:3:")
                .hasMessageContaining("data_typo");
    }

    @Test
    void shouldRefuseAnUnknownEnumName() {
        write("backend: \"b\"\ninput [ { name: \"T\" data_type: TYPE_FP31 } ]");
        assertThatThrownBy(() -> load(true))
                .hasMessageStartingWith("config.pbtxt:2:")
                .hasMessageContaining("TYPE_FP31");
    }

    @Test
    void shouldReadWhatPeopleWrite() {
        write("""
                # a comment
                backend: "b", max_batch_size: 4;
                input { name: 'IN' data_type: 11 dims: 3 dims: -1 }
                output: [ { name: "OUT" data_type: TYPE_STRING dims: [ 3, -1 ] } ]
                parameters { key: "k" value { string_value: "v" } }
                parameters: { key: "k2" value: { string_value: "v2" } }
                """);
        ModelConfig config = load(true);
        assertThat(config.getName()).isEqualTo("m");
        assertThat(config.getInput(0).getDimsList()).containsExactly(3L, -1L);
        assertThat(config.getParametersMap()).containsKeys("k", "k2");
    }

    @Test
    void shouldCheckTensorsThatNothingCompletesBeforeThereIsAVersion() {
        write("backend: \"b\" input [ { name: \"T\" data_type: TYPE_FP32 dims: [ 0 ] } ]");
        assertThat(ModelConfiguration.written(DeclaredEngines.CATALOG, "m", directory, "", true)
                        .getInputCount())
                .isEqualTo(1);
        assertThatThrownBy(() -> ModelConfiguration.written(DeclaredEngines.CATALOG, "m", directory, "", false))
                .hasMessageStartingWith("model input 'T' dimension must be integer >= 1");
    }

    @Test
    void shouldSayThatAnUnknownPlatformContradictsTheFile() throws IOException {
        Files.writeString(Files.createDirectories(directory.resolve("1")).resolve("model.onnx"), "");
        write("platform: \"onnxruntim\"" + TENSORS);
        assertThatThrownBy(() -> load(true))
                .hasMessage("unexpected 'platform' and 'backend' pair, got:onnxruntim, onnxruntime");
    }

    @Test
    void shouldFillInDefaults() {
        write("backend: \"b\" max_batch_size: 6 dynamic_batching { } instance_group [ { }, { name: \"g\" count: 3 } ]"
                + TENSORS);
        ModelConfig config = load(true);
        assertThat(config.getVersionPolicy().getLatest().getNumVersions()).isEqualTo(1);
        assertThat(config.getDynamicBatching().getPreferredBatchSizeList()).containsExactly(6);
        assertThat(config.getOptimization().getInputPinnedMemory().getEnable()).isTrue();
        assertThat(config.getOptimization().getOutputPinnedMemory().getEnable()).isTrue();
        assertThat(config.getInstanceGroupList())
                .extracting(ModelInstanceGroup::getName)
                .containsExactly("m_0", "g");
        assertThat(config.getInstanceGroupList())
                .extracting(ModelInstanceGroup::getKind)
                .containsOnly(ModelInstanceGroup.Kind.KIND_CPU);
        assertThat(config.getInstanceGroupList())
                .extracting(ModelInstanceGroup::getCount)
                .containsExactly(1, 3);
    }

    @Test
    void shouldGiveOnnxModelsTwoInstancesOnTheProcessor() {
        write("platform: \"onnxruntime_onnx\"" + TENSORS);
        ModelConfig config = load(true);
        assertThat(config.getBackend()).isEqualTo("onnxruntime");
        assertThat(config.getDefaultModelFilename()).isEqualTo("model.onnx");
        assertThat(config.getInstanceGroup(0).getName()).isEqualTo("m");
        assertThat(config.getInstanceGroup(0).getCount()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "model.onnx,onnxruntime,onnxruntime_onnx",
        "model.graphdef,tensorflow,tensorflow_graphdef",
        "model.plan,tensorrt,tensorrt_plan",
        "model.xml,openvino,''",
        "model.pt,pytorch,pytorch_libtorch",
        "model.py,python,''"
    })
    void shouldTellTheBackendFromTheFile(String file, String backend, String platform) throws IOException {
        Files.writeString(Files.createDirectories(directory.resolve("1")).resolve(file), "");
        write(TENSORS);
        ModelConfig config = load(true);
        assertThat(config.getBackend()).isEqualTo(backend);
        assertThat(config.getPlatform()).isEqualTo(platform);
        assertThat(config.getDefaultModelFilename()).isEqualTo(file);
    }

    @Test
    void shouldPreferTheFirstKindWhenThereAreSeveralFiles() throws IOException {
        Path version = Files.createDirectories(directory.resolve("1"));
        Files.writeString(version.resolve("model.py"), "");
        Files.writeString(version.resolve("model.onnx"), "");
        write(TENSORS);
        assertThat(load(true).getBackend()).isEqualTo("onnxruntime");
    }

    @Test
    void shouldTellTheBackendFromTheNameWhenNoFileIsKnown() throws IOException {
        Files.createDirectories(directory.resolve("1"));
        write(TENSORS);
        ModelConfig config = ModelConfiguration.of(
                DeclaredEngines.CATALOG,
                "m.special",
                directory,
                Optional.of(directory.resolve("1")),
                true,
                name -> new Unchanging());
        assertThat(config.getBackend()).isEqualTo("special");
        assertThat(config.getDefaultModelFilename()).isEqualTo("model.special");
    }

    @Test
    void shouldSayWhenNoBackendCanBeTold() throws IOException {
        Files.createDirectories(directory.resolve("1"));
        write(TENSORS);
        assertThatThrownBy(() -> load(true))
                .hasMessage("Invalid model name: Could not determine backend for model 'm' with no backend in model"
                        + " configuration. Expected model name of the form 'model.<backend_name>'.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "backend: \"tensorflow\""})
    void shouldSayThatNoEngineRunsTensorFlowLite(String backend) throws IOException {
        Path version = Files.createDirectories(directory.resolve("1"));
        Files.writeString(version.resolve("model.tflite"), "");
        write(backend + TENSORS);
        assertThatThrownBy(() -> load(true))
                .hasMessage("model 'm' is a TensorFlow Lite model (model.tflite), and no engine here runs those");
        Files.writeString(version.resolve("saved_model.pb"), "");
        assertThat(load(true).getBackend()).isEqualTo("tensorflow");
    }

    @Test
    void shouldLeaveFilesAloneWhenCompletionIsOff() throws IOException {
        Files.writeString(Files.createDirectories(directory.resolve("1")).resolve("model.onnx"), "");
        write(TENSORS);
        assertThatThrownBy(() -> load(false)).hasMessage("must specify 'platform' or 'backend' for 'm'");
    }

    @Test
    void shouldAskForAConfigurationWhenCompletionIsOff() {
        assertThatThrownBy(() -> load(false))
                .hasMessageContaining("there is no config.pbtxt")
                .hasMessageContaining("disable-auto-complete-config");
    }

    @Test
    void shouldAcceptAReshapeWithVariableDimensions() {
        write("""
                backend: "b"
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2, 4, -1, 6 ] reshape { shape: [ 8, -1, 1, 6 ] } } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
                """);
        assertThat(load(true).getInput(0).getReshape().getShapeList()).containsExactly(8L, -1L, 1L, 6L);
    }

    @Test
    void shouldCheckAnEnsembleThatNothingCompletesBeforeItHasAVersion() {
        write("backend: \"b\" ensemble_scheduling { }");
        assertThatThrownBy(() -> ModelConfiguration.written(DeclaredEngines.CATALOG, "m", directory, "", false))
                .hasMessage("ensemble scheduling cannot be set for model 'm' whose platform is not ensemble");
    }

    private void write(String config) {
        try {
            Files.writeString(directory.resolve("config.pbtxt"), config);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ModelConfig load(boolean autoComplete) {
        Path version = directory.resolve("1");
        return ModelConfiguration.of(
                DeclaredEngines.CATALOG,
                "m",
                directory,
                Files.exists(version) ? Optional.of(version) : Optional.empty(),
                autoComplete,
                name -> new Unchanging());
    }

    /** A backend that completes nothing. */
    private static final class Unchanging implements Backend {
        @Override
        public String name() {
            return "unchanging";
        }

        @Override
        public void start(Map<String, String> options) {}

        @Override
        public ModelConfig complete(ModelConfig config, Path versionDirectory) {
            return config;
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            throw new AssertionError("only configurations are made here");
        }

        @Override
        public void close() {}
    }
}
