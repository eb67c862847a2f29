// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.spi.ConfigurationException;
import gatun.wire.inference.ModelConfig;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** That each field has an answer, {@code ConfigurationReferenceIT} shows. */
class UnusedFieldsTest {
    private static ModelConfig config(String text) {
        return ConfigurationFile.parse("name: 'm' backend: 'b' " + text, "config.pbtxt");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "instance_group [ { }, { passive: true } ] | instance_group[1].passive",
                "cc_model_filenames { key: '7.5' value: 'x' } | cc_model_filenames",
                "model_operations { op_library_filename: 'x.so' } | model_operations",
                "ensemble_scheduling { step { model_namespace: 'x' } } | ensemble_scheduling.step[0].model_namespace",
            })
    void shouldRefuseWhatWouldMakeAnotherModel(String text, String path) {
        assertThatThrownBy(() -> UnusedFields.remarks(config(text), Set.of(), DeclaredEngines.CATALOG))
                .isInstanceOfSatisfying(
                        ConfigurationException.class, e -> assertThat(e.path()).hasToString(path))
                .hasMessageStartingWith("'" + path + "' of model 'm' is refused: ")
                .hasMessageMatching(".*(leave|name the file).*");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "optimization { priority: PRIORITY_MAX } | optimization.priority",
                "optimization { cuda { graph_spec { batch_size: 1 } } } | optimization.cuda",
                "optimization { input_pinned_memory { enable: false } } | optimization.input_pinned_memory",
                "optimization { eager_batching: true } | optimization.eager_batching",
                "optimization { gather_kernel_buffer_threshold: 8 } | optimization.gather_kernel_buffer_threshold",
                "optimization { output_pinned_memory { } } | optimization.output_pinned_memory",
                "instance_group { profile: \"1\" } | instance_group[0].profile",
                "instance_group { secondary_devices { device_id: 1 } } | instance_group[0].secondary_devices",
                "instance_group { host_policy: \"numa\" } | instance_group[0].host_policy",
                "sequence_batching { oldest { preserve_ordering: true } } | sequence_batching.oldest.preserve_ordering",
                "runtime: \"libtriton_b.so\" | runtime",
            })
    void shouldSayWhatHasNoEffect(String text, String path) {
        assertThat(UnusedFields.remarks(config(text), Set.of(), DeclaredEngines.CATALOG))
                .singleElement()
                .asString()
                .startsWith("'" + path + "' has no effect: ");
    }

    @Test
    void shouldLeaveToAnEngineWhatItUses() {
        ModelConfig config =
                config("model_operations { op_library_filename: 'x.so' } optimization { graph { level: 1 } }");

        assertThat(UnusedFields.remarks(
                        config,
                        Set.of("ModelConfig.model_operations", "ModelOptimizationPolicy.graph"),
                        DeclaredEngines.CATALOG))
                .isEmpty();
    }

    @Test
    void shouldNameTheEnginesThatUseTheField() {
        assertThatThrownBy(() -> UnusedFields.remarks(
                        config("model_operations { op_library_filename: 'x.so' }"), Set.of(), DeclaredEngines.CATALOG))
                .hasMessageEndingWith("leave model_operations out, or use backend onnxruntime or tensorflow");
    }

    @Test
    void shouldSayNothingOfWhatTheServerFillsIn() {
        ModelConfig config = config("""
                optimization { input_pinned_memory { enable: true } output_pinned_memory { enable: true } priority: 0 }
                instance_group { count: 2 kind: KIND_CPU passive: false }
                parameters { key: 'k' value { string_value: 'v' } } metric_tags { key: 'k' value: 'v' }
                """);

        assertThat(UnusedFields.remarks(config, Set.of(), DeclaredEngines.CATALOG))
                .isEmpty();
    }
}
