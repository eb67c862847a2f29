// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelTransactionPolicy;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SequenceRulesTest {
    private static ModelConfig config(String sequenceBatching) throws TextFormat.ParseException {
        ModelConfig.Builder config = ModelConfig.newBuilder();
        TextFormat.merge(
                "name: \"m\" max_batch_size: 4 input [ { name: \"IN\" data_type: TYPE_FP32 dims: [ 1 ] } ]"
                        + " sequence_batching { " + sequenceBatching + " }",
                config);
        return config.build();
    }

    private static String control(String name, String... controls) {
        return "control_input { name: \"" + name + "\" control [ { " + String.join(" }, { ", controls) + " } ] } ";
    }

    private static String state(String more) {
        return "state { input_name: \"S\" output_name: \"T\" " + more + " } ";
    }

    static Stream<Arguments> shouldRefuseWithTheReason() {
        String start = "kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]";
        return Stream.of(
                arguments(
                        "oldest { preferred_batch_size: [ 0 ] }",
                        "sequence batching preferred batch size must be positive for m"),
                arguments(
                        "oldest { preferred_batch_size: [ 5 ] }",
                        "sequence batching preferred batch size must be <= max batch size for m"),
                arguments(
                        "direct { minimum_slot_utilization: 1.5 }",
                        "sequence batching minimum slot utilization must be in range (0.0, 1.0] for m"),
                arguments(control("", start), "sequence batching control tensor must have a name for m"),
                arguments(
                        control("C", start, "kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ]"),
                        "sequence batching control tensor 'C' is specified for multiple control kinds for m"),
                arguments(
                        control("C", start) + control("D", start),
                        "sequence batching specifies multiple CONTROL_SEQUENCE_START tensors for m"),
                arguments(
                        control("C", "kind: CONTROL_SEQUENCE_READY"),
                        "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or"
                                + " 'bool_false_true' for CONTROL_SEQUENCE_READY for m"),
                arguments(
                        control("C", start + " fp32_false_true: [ 0, 1 ]"),
                        "sequence batching specifies more than one from 'int32_false_true', 'fp32_false_true' and"
                                + " 'bool_false_true' for CONTROL_SEQUENCE_START for m"),
                arguments(
                        control("C", "kind: CONTROL_SEQUENCE_END bool_false_true: [ true ]"),
                        "sequence batching control 'bool_false_true' must have exactly 2 entries for"
                                + " CONTROL_SEQUENCE_END for m"),
                arguments(
                        control("C", "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 int32_false_true: [ 0, 1 ]"),
                        "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or"
                                + " 'bool_false_true' for CONTROL_SEQUENCE_CORRID for m"),
                arguments(
                        control("C", "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_FP32"),
                        "unexpected data type for control CONTROL_SEQUENCE_CORRID for m. Allowed data types are"
                                + " TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and TYPE_STRING"),
                arguments(control("IN", start), "model input 'IN' is given twice for m"),
                arguments(state("dims: [ 1 ]"), "sequence batching state 'S' must specify 'data_type' for m"),
                arguments(state("data_type: TYPE_FP32"), "sequence batching state 'S' must specify 'dims' for m"),
                arguments(
                        state("data_type: TYPE_FP32 dims: [ 0 ]"),
                        "sequence batching state 'S' dimension must be integer >= 1, or -1 to indicate a variable-size"
                                + " dimension for m"),
                arguments(
                        "state { input_name: \"S\" data_type: TYPE_FP32 dims: [ 1 ] }",
                        "sequence batching state must specify 'input_name' and 'output_name' for m"),
                arguments(
                        state("data_type: TYPE_FP32 dims: [ 1 ] use_growable_memory: true"),
                        "In order to 'use_growable_memory', you must also enable 'use_same_buffer_for_input_output' for"
                                + " state input name 'S' for m"));
    }

    @ParameterizedTest
    @MethodSource
    void shouldRefuseWithTheReason(String sequenceBatching, String reason) throws TextFormat.ParseException {
        ModelConfig config = config(sequenceBatching);
        assertThatThrownBy(() -> SequenceRules.check(config))
                .isInstanceOf(GatunException.class)
                .hasMessage(reason);
    }

    @ParameterizedTest
    @MethodSource
    void shouldTakeEveryDatatypeOfControls(String control) throws TextFormat.ParseException {
        ModelConfig config = config(control("C", control));
        assertThatCode(() -> SequenceRules.check(config)).doesNotThrowAnyException();
    }

    static Stream<String> shouldTakeEveryDatatypeOfControls() {
        Stream<String> flags = Stream.of("START", "END", "READY").flatMap(kind -> Stream.of("int32", "fp32", "bool")
                .map(type -> "kind: CONTROL_SEQUENCE_" + kind + " " + type + "_false_true: [ "
                        + (type.equals("bool") ? "false, true" : "0, 1") + " ]"));
        Stream<String> ids = Stream.of("UINT64", "INT64", "UINT32", "INT32", "STRING")
                .map(type -> "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_" + type);
        return Stream.concat(flags, ids);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "iterative_sequence: true",
                "iterative_sequence: true oldest { max_candidate_sequences: 9 }",
                "control_input { name: \"C\" }",
                "state { input_name: \"S\" output_name: \"T\" data_type: TYPE_FP32 dims: [ -1 ]"
                        + " use_same_buffer_for_input_output: true use_growable_memory: true }",
            })
    void shouldTakeWhatTritonTakes(String sequenceBatching) throws TextFormat.ParseException {
        ModelConfig config = config(sequenceBatching).toBuilder()
                .setModelTransactionPolicy(ModelTransactionPolicy.newBuilder().setDecoupled(true))
                .build();
        assertThatCode(() -> SequenceRules.check(config)).doesNotThrowAnyException();
    }

    @Test
    void shouldFillInWhatIsLeftOut() throws TextFormat.ParseException {
        ModelConfig filled = Defaults.fill(
                config("oldest { }").toBuilder().setBackend("b").build(),
                new UsableDevices(List.of(), () -> {
                    throw new AssertionError("asked on a machine without GPUs");
                }),
                1);
        assertThat(filled.getSequenceBatching().getMaxSequenceIdleMicroseconds())
                .isEqualTo(1_000_000);
        assertThat(filled.getSequenceBatching().getOldest().getPreferredBatchSizeList())
                .containsExactly(4);
    }
}
