// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchTensorRulesTest {
    private static final String TENSORS = """
            name: "m" max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] },
                     { name: "WIDE" data_type: TYPE_FP32 dims: [ 2, -1 ] } ]
            """;

    private static void check(String config) throws TextFormat.ParseException {
        TensorRules.check(DeclaredEngines.CATALOG, TextFormat.parse(config, ModelConfig.class), Runnable::run);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            target_name: "X" data_type: TYPE_INT32                        | batch input kind 'BATCH_ELEMENT_COUNT' expects 1 source input, got 0 for m
            target_name: "X" data_type: TYPE_INT32 source_input: ["IN", "IN"] kind: BATCH_ITEM_SHAPE | batch input kind 'BATCH_ITEM_SHAPE' expects 1 source input, got 2 for m
            target_name: "X" data_type: TYPE_INT64 source_input: "IN"     | batch input data type must be TYPE_INT32 or TYPE_FP32 for m
            target_name: "X" data_type: TYPE_INT32 source_input: "NO"     | unknown source input name 'NO' for m
            target_name: "X" data_type: TYPE_INT32 source_input: "IN" kind: 9 | unknown batch input kind '9' for m
            target_name: "IN" data_type: TYPE_INT32 source_input: "IN"    | batch input 'IN' is given twice for m
            """)
    void shouldRefuseABatchInputWithTheReason(String input, String reason) {
        assertThatThrownBy(() -> check(TENSORS + "batch_input [ { " + input + " } ]"))
                .isInstanceOf(GatunException.class)
                .hasMessage(reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            target_name: "OUT"                                   | batch output kind 'BATCH_SCATTER_WITH_INPUT_SHAPE' expects 1 source input, got 0 for m
            target_name: "NO" source_input: "IN"                 | unknown target output name 'NO' for m
            target_name: "OUT" source_input: "NO"                | unknown source input name 'NO' for m
            target_name: ["OUT", "OUT"] source_input: "IN"       | target output name 'OUT' can only be specified once for m
            target_name: "WIDE" source_input: "IN"               | target output 'WIDE' has variable dimension 1, source input 'IN' has only 1 dimensions to take it from, for m
            """)
    void shouldRefuseABatchOutputWithTheReason(String output, String reason) {
        assertThatThrownBy(() -> check(TENSORS + "batch_output [ { " + output + " } ]"))
                .isInstanceOf(GatunException.class)
                .hasMessage(reason);
    }

    @Test
    void shouldRefuseARaggedInputWithoutABatchDimension() {
        assertThatThrownBy(() -> check(TENSORS.replace("max_batch_size: 4", "")))
                .hasMessage("model input 'IN' sets 'allow_ragged_batch', which needs a 'max_batch_size' of at least 1,"
                        + " for m");
    }

    @Test
    void shouldTakeWhatIsRight() {
        assertThatCode(() -> check(TENSORS + """
                batch_input [ { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "X" data_type: TYPE_FP32 source_input: "IN" } ]
                batch_output [ { target_name: "OUT" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "IN" } ]
                """)).doesNotThrowAnyException();
    }
}
