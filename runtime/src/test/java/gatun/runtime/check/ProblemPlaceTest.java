// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ProblemPlaceTest {
    private static final String CONFIGURATION = """
            name: "other"
            platform: "onnxruntime_onnx"
            max_batch_size: -1
            input [
              {
                name: "INPUT0"
                data_type: TYPE_INT32
                dims: [ 16, 0 ]
              },
              {
                name: "INPUT1"
                dims: [ 16 ]
                reshape { shape: [ 4, 5 ] }
              }
            ]
            output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 16 ] }
            dynamic_batching {
              preferred_batch_size: [ 4, 64 ]
              priority_levels: 2
              default_priority_level: 9
            }
            instance_group [ { kind: KIND_GPU },
              { kind: KIND_CPU gpus: [ 0 ] } ]
            model_warmup { name: "warm" inputs { key: "INPUT0" value { data_type: TYPE_INT32 } } }
            parameters { key: "intra_op_thread_count" value { string_value: "many" } }
            """;

    static Stream<Arguments> places() {
        return Stream.of(
                Arguments.of(
                        "unexpected directory name 'm' for model 'other', directory name must equal model name", 1),
                Arguments.of("'max_batch_size' must be non-negative value for other", 3),
                Arguments.of(
                        "autofill failed for model 'm': model does not support batching while non-zero"
                                + " max_batch_size is specified",
                        3),
                Arguments.of(
                        "model input 'INPUT0' dimension must be integer >= 1, or -1 to indicate a variable-size"
                                + " dimension for other",
                        8),
                Arguments.of(
                        "unable to load model 'm', configuration expects datatype TYPE_INT32 for input 'INPUT0',"
                                + " model provides TYPE_FP32",
                        7),
                Arguments.of(
                        "model 'm', tensor 'INPUT0': the model expects 2 dimensions (shape [-1,16]) but the model"
                                + " configuration specifies 3",
                        8),
                Arguments.of("model input 'INPUT1' must specify 'data_type' for other", 10),
                Arguments.of("model input 'INPUT1' has different size for dims and reshape for other", 12),
                Arguments.of("unexpected inference output 'OUTPUT0', allowed outputs are: SUM", 16),
                Arguments.of("dynamic batching preferred size must be <= max batch size for other", 18),
                Arguments.of("default priority level must be in range [1, 2] for other", 20),
                Arguments.of(
                        "instance group other_0 of model other has kind KIND_GPU but server does not support GPUs", 22),
                Arguments.of(
                        "instance group other_1 of model other has kind KIND_CPU but specifies one or more GPUs", 23),
                Arguments.of("parameter 'intra_op_thread_count' is 'many'; expected a number >= 0", 25));
    }

    @ParameterizedTest
    @MethodSource("places")
    void shouldFindWhatATextIsAbout(String problem, int line) {
        ConfigurationText text = ConfigurationText.of(CONFIGURATION);
        assertThat(ProblemPlace.of(text, problem))
                .hasValueSatisfying(
                        place -> assertThat(place.line()).as(problem).isEqualTo(line));
    }

    @Test
    void shouldFindNothingForATextThatIsAboutSomethingElse() {
        ConfigurationText text = ConfigurationText.of(CONFIGURATION);
        assertThat(ProblemPlace.of(text, "the file is damaged")).isEmpty();
    }

    @Test
    void shouldTakeAnyText() {
        String whole = CONFIGURATION + "} ] > name: , 'open \n # note { \n < : [ [";
        for (int length = 0; length <= whole.length(); length++) {
            ConfigurationText text = ConfigurationText.of(whole.substring(0, length));
            assertThat(text.nodes()).hasSizeLessThanOrEqualTo(length);
        }
        assertThat(ConfigurationText.of("# name: 'x'\nname: \"a # b\"").nodes())
                .singleElement()
                .satisfies(node -> assertThat(node.value()).isEqualTo("a # b"));
    }
}
