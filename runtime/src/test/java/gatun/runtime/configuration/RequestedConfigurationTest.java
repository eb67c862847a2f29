// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.runtime.ModelOverride.OverrideRefusedException;
import gatun.runtime.configuration.RequestedConfiguration.Operators;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestedConfigurationTest {
    private static final String OWN = """
            name: "m"
            max_batch_size: 8
            output [ { name: "y" label_filename: "labels.txt" } ]
            instance_group [
              { count: 2 host_policy: "a" rate_limiter { resources [ { name: "R" count: 1 } ] } },
              { count: 1 host_policy: "b" }
            ]
            optimization { execution_accelerators { cpu_execution_accelerator [ { name: "xnnpack" } ] } }
            parameters { key: "isolation" value { string_value: "process" } }
            parameters { key: "isolation_env.HOME" value { string_value: "/srv" } }
            parameters { key: "threads" value { string_value: "1" } }
            """;

    private static final ModelConfig WRITTEN = config(OWN);
    private static final Operators OPERATORS = new Operators(
            WRITTEN,
            List.of(WRITTEN.toBuilder()
                    .setBackend("onnxruntime")
                    .setPlatform("onnxruntime_onnx")
                    .setDefaultModelFilename("model.onnx")
                    .build()));

    private static ModelConfig config(String text) {
        return ConfigurationFile.parse(text, "config");
    }

    private static ModelConfig admit(String fields) {
        ModelConfig requested = config("name: 'm' " + fields);
        return RequestedConfiguration.withParameters(
                RequestedConfiguration.admit(requested, OPERATORS, false), requested, Set.of("threads"));
    }

    @Test
    void shouldKeepWhatARequestMayNotSayWhereItSaysNothing() {
        ModelConfig admitted =
                admit("max_batch_size: 4 dynamic_batching { } output [ { label_filename: 'labels.txt' } ]");

        assertThat(admitted.getMaxBatchSize()).isEqualTo(4);
        assertThat(admitted.hasDynamicBatching()).isTrue();
        assertThat(admitted.getParametersMap()).isEqualTo(WRITTEN.getParametersMap());
        assertThat(admitted.getInstanceGroupList()).isEqualTo(WRITTEN.getInstanceGroupList());
        assertThat(admitted.getOptimization()).isEqualTo(WRITTEN.getOptimization());
        assertThat(admitted.getBackend()).isEmpty();
    }

    @Test
    void shouldTakeTheConfigurationThatTheServerShowsWithAnotherBatchSize() {
        ModelConfig shown = OPERATORS.told().getFirst().toBuilder()
                .setMaxBatchSize(2)
                .setModelOperations(ModelConfig.getDefaultInstance().getModelOperations())
                .build();

        ModelConfig admitted = RequestedConfiguration.withParameters(
                RequestedConfiguration.admit(shown, OPERATORS, false), shown, Set.of());

        assertThat(admitted).isEqualTo(WRITTEN.toBuilder().setMaxBatchSize(2).build());
    }

    @Test
    void shouldTakeTheNumberAndTheDevicesOfInstancesAndKeepTheirLimits() {
        ModelConfig admitted =
                admit("instance_group [ { count: 5 kind: KIND_GPU gpus: [ 1 ] }, { name: 'x' }, { count: 7 } ]");

        assertThat(admitted.getInstanceGroupList())
                .extracting(group -> group.getCount() + " " + group.getHostPolicy() + " "
                        + group.getRateLimiter().getResourcesCount())
                .containsExactly("5 a 1", "0 b 0", "7 b 0");
        assertThat(admitted.getInstanceGroup(0).getGpusList()).containsExactly(1);
    }

    @Test
    void shouldTakeParametersThatTheEngineDeclares() {
        assertThat(admit("parameters { key: 'threads' value { string_value: '3' } }")
                        .getParametersOrThrow("threads")
                        .getStringValue())
                .isEqualTo("3");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            parameters { key: "isolation" value { string_value: "none" } } | parameter 'isolation' of the request's configuration is <none>
            parameters { key: "isolation_env.HOME" value { string_value: "/x" } } | parameter 'isolation_env.HOME'
            parameters { key: "isolation_env.LD_PRELOAD" value { string_value: "/x.so" } } | parameter 'isolation_env.LD_PRELOAD' of the request's configuration is </x.so>
            parameters { key: "EXECUTION_ENV_PATH" value { string_value: "/x" } } | parameter 'EXECUTION_ENV_PATH'
            parameters { key: "unheard" value { string_value: "of" } } | parameter 'unheard'
            backend: "python" | 'backend' of the request's configuration is <backend: "python">
            platform: "tensorflow_savedmodel" | 'platform'
            platform: "ensemble" | 'platform'
            ensemble_scheduling { step [ { model_name: "n" } ] } | 'ensemble_scheduling'
            runtime: "libtriton_python.so" | 'runtime'
            default_model_filename: "other.onnx" | 'default_model_filename'
            cc_model_filenames { key: "9.0" value: "other" } | 'cc_model_filenames'
            model_operations { op_library_filename: "/x.so" } | 'model_operations'
            model_repository_agents { agents [ { name: "checksum" } ] } | 'model_repository_agents'
            optimization { execution_accelerators { cpu_execution_accelerator [ { name: "openvino" } ] } } | 'optimization.execution_accelerators'
            instance_group [ { host_policy: "b" } ] | 'instance_group[0].host_policy'
            instance_group [ { }, { rate_limiter { priority: 1 } } ] | 'instance_group[1].rate_limiter'
            instance_group [ { profile: "p" } ] | 'instance_group[0].profile'
            instance_group [ { secondary_devices [ { device_id: 1 } ] } ] | 'instance_group[0].secondary_devices'
            output [ { name: "y" label_filename: "1/model.py" } ] | 'output.label_filename'
            model_warmup [ { inputs { key: "x" value { input_data_file: "f" } } } ] | 'model_warmup.inputs.input_data_file'
            sequence_batching { state [ { initial_state [ { data_file: "f" } ] } ] } | 'sequence_batching.state.initial_state.data_file'
            instance_group [ { passive: true } ] | 'instance_group[0].passive'
            """)
    void shouldNameTheFieldThatIsTheOperators(String fields, String named) {
        assertThatThrownBy(() -> admit(fields))
                .isInstanceOfSatisfying(OverrideRefusedException.class, e -> assertThat(e.code())
                        .isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageStartingWith("failed to load 'm': " + named)
                .hasMessageContaining("leave it out of the request");
    }

    @Test
    void shouldLetFilesOfARequestHaveNamesAndAnEngine() {
        String fields = "name: 'm' backend: 'b' default_model_filename: 'x' cc_model_filenames { key: '1' value: 'y' }"
                + " output [ { label_filename: 'l' } ]";
        ModelConfig admitted = RequestedConfiguration.admit(config(fields), Operators.none("m"), true);
        assertThat(admitted).isEqualTo(config(fields));

        assertThatThrownBy(() -> RequestedConfiguration.admit(config(fields), OPERATORS, true))
                .hasMessageContaining("'backend'");
        assertThatThrownBy(() -> RequestedConfiguration.admit(config(fields), Operators.none("m"), false))
                .hasMessageContaining("'default_model_filename'");
    }

    @Test
    void shouldKeepAnEnsembleOne() {
        ModelConfig own = config("name: 'm' ensemble_scheduling { step [ { model_name: 'n' } ] }");
        Operators operators = new Operators(own, List.of());

        assertThat(RequestedConfiguration.admit(config("name: 'm' max_batch_size: 2"), operators, false))
                .isEqualTo(own.toBuilder().setMaxBatchSize(2).build());
        ModelConfig other = config("name: 'm' ensemble_scheduling { step [ { model_name: 'o' } ] }");
        assertThat(RequestedConfiguration.admit(other, operators, false)).isEqualTo(other);
        assertThatThrownBy(
                        () -> RequestedConfiguration.admit(config("name: 'm' dynamic_batching { }"), operators, false))
                .hasMessageContaining("'dynamic_batching'");
        assertThatThrownBy(() -> RequestedConfiguration.admit(config("name: 'm' backend: 'python'"), operators, false))
                .hasMessageContaining("'backend'");
    }
}
