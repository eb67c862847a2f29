// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import com.google.protobuf.TextFormat;
import gatun.runtime.configuration.ConfigurationFile.ConfigurationSyntaxException;
import gatun.runtime.configuration.ConfigurationFile.ConfigurationSyntaxException.Mistake;
import gatun.runtime.configuration.ConfigurationText.Position;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ConfigurationTextTest {
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
        ConfigurationPath second = ConfigurationPath.of("input", "INPUT1");
        ConfigurationPath group = ConfigurationPath.of("instance_group", 1);
        return Stream.of(
                Arguments.of(ConfigurationPath.of("max_batch_size"), 3, 1),
                Arguments.of(ConfigurationPath.of("input", "INPUT0").then("dims"), 8, 13),
                Arguments.of(ConfigurationPath.of("input", 1).then("dims"), 12, 13),
                Arguments.of(second.then("reshape"), 13, 5),
                // It is missing: the message that lacks it.
                Arguments.of(second.then("data_type"), 10, 3),
                Arguments.of(ConfigurationPath.of("output", "OUTPUT0").then("data_type"), 16, 26),
                Arguments.of(ConfigurationPath.of("dynamic_batching").then("default_priority_level"), 20, 3),
                Arguments.of(group.then("gpus"), 23, 28),
                Arguments.of(ConfigurationPath.of("model_warmup", "warm").then("inputs", "INPUT0"), 24, 29),
                Arguments.of(ConfigurationPath.ofParameter("intra_op_thread_count"), 25, 1));
    }

    @ParameterizedTest
    @MethodSource("places")
    void shouldFindPlaces(ConfigurationPath path, int line, int column) {
        assertThat(ConfigurationText.of(CONFIGURATION).position(path)).contains(new Position(line, column));
    }

    @Test
    void shouldFindNothingOfWhatTheTextDoesNotHave() {
        ConfigurationText text = ConfigurationText.of(CONFIGURATION);
        assertThat(text.position(ConfigurationPath.MODEL)).isEmpty();
        assertThat(text.position(ConfigurationPath.of("sequence_batching").then("state")))
                .isEmpty();
        assertThat(text.position(ConfigurationPath.of("input", "INPUT2").then("dims")))
                .isEmpty();
    }

    @Test
    void shouldFindEveryBrokenRuleAndItsPlace() throws TextFormat.ParseException {
        ModelConfig config = TextFormat.parse(CONFIGURATION, ModelConfig.class);
        ConfigurationText text = ConfigurationText.of(CONFIGURATION);
        assertThat(ModelConfiguration.brokenRules(DeclaredEngines.CATALOG, config))
                .extracting(
                        rule -> text.position(rule.path()).map(Position::line).orElse(0))
                .containsExactly(3, 18, 22, 23, 8, 10);
        assertThat(ModelConfiguration.brokenRules(DeclaredEngines.CATALOG, config)
                        .getFirst())
                .hasMessage("'max_batch_size' must be non-negative value for other");
    }

    @Test
    void shouldListUnknownNamesWithThoseThatAreMeant() {
        String text = CONFIGURATION
                .replace("max_batch_size", "max_batchsize")
                .replace("KIND_CPU", "KIND_CUDA")
                .replace("data_type: TYPE_INT32 dims", "data_type: TYPE_INT33 dims");
        ConfigurationSyntaxException failure = catchThrowableOfType(
                ConfigurationSyntaxException.class, () -> ConfigurationFile.parse(text, "c.pbtxt"));
        assertThat(failure).hasMessage("c.pbtxt:3:1: unknown field 'max_batchsize' in ModelConfig");
        assertThat(failure.mistakes())
                .extracting(mistake -> mistake.position().line(), Mistake::advice)
                .containsExactly(
                        tuple(3, "did you mean 'max_batch_size'?"),
                        tuple(16, "did you mean TYPE_INT32?"),
                        tuple(23, "write KIND_GPU"));
    }

    @Test
    void shouldPassOnTheParsersWordsForOtherMistakes() {
        ConfigurationSyntaxException failure = catchThrowableOfType(
                ConfigurationSyntaxException.class,
                () -> ConfigurationFile.parse("name: \"a\"\nname: \"b\"\n", "c.pbtxt"));
        assertThat(failure.mistakes())
                .singleElement()
                .satisfies(mistake -> assertThat(mistake.position().line()).isEqualTo(2));
        assertThat(failure).hasMessageStartingWith("c.pbtxt:2:").hasMessageContaining("name");
    }

    @Test
    void shouldTakeAnyText() {
        String whole = CONFIGURATION + "} ] > name: , 'open \n # note { \n < : [ [";
        for (int length = 0; length <= whole.length(); length++) {
            ConfigurationText text = ConfigurationText.of(whole.substring(0, length));
            assertThat(text.fields()).hasSizeLessThanOrEqualTo(length);
        }
        assertThat(ConfigurationText.of("# name: 'x'\nname: \"a # b\"").fields())
                .extracting(ConfigurationText.Field::value)
                .isEqualTo(List.of("a # b"));
    }
}
