// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CallSpecTest {
    private static final String LEAF = "{\"type\": null, \"context\": null, \"children_spec\": []}";

    private static String node(String type, String context, String... children) {
        return "{\"type\": \"builtins." + type + "\", \"context\": " + context + ", \"children_spec\": ["
                + String.join(", ", children) + "]}";
    }

    private static String call(String arguments, String keywords) {
        return "[1, " + node("tuple", "\"null\"", arguments, keywords) + "]";
    }

    @Test
    void shouldNameInputsAsTritonDoes() {
        String options = node("dict", "\"[\\\"a\\\", \\\"b\\\"]\"", LEAF, LEAF);
        String call = call(
                node("tuple", "\"null\"", LEAF, options, node("list", "null", LEAF)),
                node("dict", "\"[\\\"mask\\\"]\"", LEAF));
        assertThat(CallSpec.inputs(call)).hasValueSatisfying(names -> assertThat(names)
                .containsExactly("ARGS[0]", "ARGS[1][a]", "ARGS[1][b]", "ARGS[2][0]", "KWARGS[mask]"));
    }

    @Test
    void shouldNameOutputs() {
        assertThat(CallSpec.outputs("[1, " + LEAF + "]"))
                .hasValueSatisfying(names -> assertThat(names).containsExactly("RESULT"));
        assertThat(CallSpec.outputs("[1, " + node("tuple", "null", LEAF, node("tuple", "null", LEAF)) + "]"))
                .hasValueSatisfying(names -> assertThat(names).containsExactly("RESULT[0]", "RESULT[1][0]"));
    }

    @Test
    void shouldGiveNoNamesToWhatItDoesNotKnow() {
        assertThat(CallSpec.outputs("")).isEmpty();
        assertThat(CallSpec.outputs("[1, {")).isEmpty();
        assertThat(CallSpec.outputs("[1]")).isEmpty();
        assertThat(CallSpec.outputs("[1, " + node("dataclass", "null", LEAF) + "]"))
                .isEmpty();
        assertThat(CallSpec.outputs("[1, " + node("dict", "\"[]\"", LEAF) + "]"))
                .isEmpty();
        assertThat(CallSpec.outputs("[1, " + "[".repeat(100_000))).isEmpty();
        assertThat(CallSpec.inputs("[1, " + node("tuple", "null", LEAF) + "]")).isEmpty();
    }
}
