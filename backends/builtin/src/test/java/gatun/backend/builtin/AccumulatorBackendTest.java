// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.TextFormat;
import gatun.backend.builtin.AccumulatorBackend.Sums;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class AccumulatorBackendTest {
    private static final String START = control("START", "kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]");
    private static final String END = control("END", "kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ]");
    private static final String READY = control("READY", "kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ]");
    private static final String CORRID = control("CORRID", "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64");

    private static String control(String name, String control) {
        return "control_input [ { name: \"" + name + "\" control [ { " + control + " } ] } ] ";
    }

    private static BackendInstance instance(String sequenceBatching) throws TextFormat.ParseException {
        ModelConfig config = TextFormat.parse("""
                name: "m" max_batch_size: 4
                input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                """ + sequenceBatching, ModelConfig.class);
        try (Backend backend = new AccumulatorBackend()) {
            return backend.load(config, Path.of("m", "1")).newInstance(new InstanceSpec("m_0", 1, Device.CPU));
        }
    }

    private static int[] run(BackendInstance instance, RecordedExecution rows) {
        instance.execute(rows);
        return rows.ints("OUTPUT");
    }

    @Test
    void shouldAddUpEachPlaceOfTheBatch() throws Exception {
        BackendInstance instance = instance("sequence_batching { " + START + READY + " }");
        assertThat(run(
                        instance,
                        new RecordedExecution("OUTPUT")
                                .ints("INPUT", Shape.of(2, 1), 5, 100)
                                .ints("START", Shape.of(2, 1), 1, 1)
                                .ints("READY", Shape.of(2, 1), 1, 1)))
                .containsExactly(5, 100);
        assertThat(run(
                        instance,
                        new RecordedExecution("OUTPUT")
                                .ints("INPUT", Shape.of(2, 1), 99, 1)
                                .ints("START", Shape.of(2, 1), 0, 0)
                                .ints("READY", Shape.of(2, 1), 0, 1)))
                .containsExactly(0, 101);
        assertThat(run(
                        instance,
                        new RecordedExecution("OUTPUT")
                                .ints("INPUT", Shape.of(2, 1), 2, 7)
                                .ints("START", Shape.of(2, 1), 0, 1)
                                .ints("READY", Shape.of(2, 1), 1, 1)))
                .containsExactly(7, 7);
    }

    @Test
    void shouldFindASequenceByItsCorrelationIdWhereverItStands() throws Exception {
        BackendInstance instance = instance("sequence_batching { oldest { } " + START + END + CORRID + " }");
        assertThat(run(
                        instance,
                        new RecordedExecution("OUTPUT")
                                .ints("INPUT", Shape.of(2, 1), 1, 10)
                                .ints("START", Shape.of(2, 1), 1, 1)
                                .ints("END", Shape.of(2, 1), 0, 0)
                                .longs("CORRID", Shape.of(2, 1), 7, -1)))
                .containsExactly(1, 10);
        assertThat(run(
                        instance,
                        new RecordedExecution("OUTPUT")
                                .ints("INPUT", Shape.of(2, 1), 20, 2)
                                .ints("START", Shape.of(2, 1), 0, 0)
                                .ints("END", Shape.of(2, 1), 0, 1)
                                .longs("CORRID", Shape.of(2, 1), -1, 7)))
                .containsExactly(30, 3);
        assertThat(run(
                        instance,
                        new RecordedExecution("OUTPUT")
                                .ints("INPUT", Shape.of(1, 1), 4)
                                .ints("START", Shape.of(1, 1), 0)
                                .ints("END", Shape.of(1, 1), 0)
                                .longs("CORRID", Shape.of(1, 1), 7)))
                .as("after the end of sequence 7")
                .containsExactly(4);
    }

    @Test
    void shouldTakeTextForACorrelationId() throws Exception {
        BackendInstance instance = instance(
                "sequence_batching { oldest { } " + START + END + CORRID.replace("TYPE_UINT64", "TYPE_STRING") + " }");
        RecordedExecution first = new RecordedExecution("OUTPUT")
                .ints("INPUT", Shape.of(2, 1), 1, 2)
                .ints("START", Shape.of(2, 1), 1, 1)
                .ints("END", Shape.of(2, 1), 0, 0)
                .texts("CORRID", Shape.of(2, 1), "a", "bb");
        assertThat(run(instance, first)).containsExactly(1, 2);
        RecordedExecution second = new RecordedExecution("OUTPUT")
                .ints("INPUT", Shape.of(2, 1), 1, 2)
                .ints("START", Shape.of(2, 1), 0, 0)
                .ints("END", Shape.of(2, 1), 0, 0)
                .texts("CORRID", Shape.of(2, 1), "bb", "a");
        assertThat(run(instance, second)).containsExactly(3, 3);
    }

    @Test
    void shouldForgetSequencesThatTheSchedulerGaveUp() {
        Sums sums = new Sums(2);
        sums.add("idle", true, 1);
        sums.add("a", true, 1);
        sums.add("b", true, 1);
        assertThat(sums.count()).isEqualTo(2);
        assertThat(sums.add("a", false, 1)).isEqualTo(2);
        assertThat(sums.add("idle", false, 5)).as("begun anew").isEqualTo(5);
    }

    @Test
    void shouldSayWhatAConfigurationLacks() {
        assertThatThrownBy(() -> instance(""))
                .isInstanceOf(GatunException.class)
                .hasMessage("the sequence_accumulator backend cannot run model 'm': it has no sequence_batching");
        assertThatThrownBy(() -> instance("sequence_batching { }"))
                .hasMessageContaining("it has no control input of CONTROL_SEQUENCE_START");
        assertThatThrownBy(() -> instance("sequence_batching { oldest { } " + START + " }"))
                .hasMessageContaining("needs a control input of CONTROL_SEQUENCE_CORRID");
        assertThatThrownBy(() -> instance("sequence_batching { " + START + CORRID + " }"))
                .hasMessageContaining("needs one of CONTROL_SEQUENCE_END too");
    }
}
