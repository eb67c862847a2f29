// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ParameterValue;
import gatun.testing.executions.RecordedExecution;
import gatun.workers.WorkerMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The requests of a batch that have their rows in the same tensors. */
class RowBatchTest {
    private static final long BLOCK = 4096;

    private final WorkerMemory memory = new WorkerMemory("m_0", 1 << 20);
    private final List<Long> blocks = new ArrayList<>();

    @AfterEach
    void close() {
        memory.close();
    }

    private RowBatch batch(RecordedExecution run, boolean decoupled) {
        return RowRequest.of(run, memory, decoupled, Map.of()).orElseThrow();
    }

    /** A tensor of UINT8 in a block of the worker's. */
    private WorkerTensor bytes(String name, Shape shape, int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return tensor(name, Datatype.UINT8, shape, bytes);
    }

    private WorkerTensor texts(String name, Shape shape, String... values) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[(int) BytesCodec.encodedTextByteSize(List.of(values))]);
        BytesCodec.encodeText(List.of(values), bytes);
        return tensor(name, Datatype.BYTES, shape, bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    private WorkerTensor tensor(String name, Datatype datatype, Shape shape, byte[] bytes) {
        long offset = BLOCK * (blocks.size() + 1);
        blocks.add(offset);
        MemorySegment.copy(
                MemorySegment.ofArray(bytes), 0, memory.responseFile().segment(offset, bytes.length), 0, bytes.length);
        return new WorkerTensor(new TensorSpec(name, datatype, shape), offset, bytes.length);
    }

    private static WorkerResponse response(WorkerTensor... tensors) {
        return new WorkerResponse(Optional.empty(), Map.of(), List.of(tensors));
    }

    private static byte[] bytes(Tensor tensor) {
        return tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
    }

    private static List<String> texts(Tensor tensor) {
        List<String> texts = new ArrayList<>();
        BytesCodec.forEach(
                tensor.bytes(), (offset, byteSize) -> texts.add(BytesCodec.text(tensor.bytes(), offset, byteSize)));
        return texts;
    }

    private static Tensor output(RecordedExecution run, String name) {
        return Objects.requireNonNull(run.outputs().get(name), name);
    }

    private void blocksShouldBeBack() {
        assertThat(memory.drainReturned()).containsExactlyInAnyOrderElementsOf(blocks);
    }

    @Test
    void shouldGiveEachRequestItsRows() {
        RecordedExecution run = new RecordedExecution("A", "B")
                .forRows(1, 2)
                .bytes("X", Shape.of(3, 2), 1, 2, 3, 4, 5, 6)
                .texts("S", Shape.of(3), "one", "", "three");
        RowBatch batch = batch(run, false);

        assertThat(batch.rows()).isEqualTo(3);
        assertThat(batch.requests()).extracting(RowRequest::firstRow).containsExactly(0, 1);
        assertThat(batch.requests()).extracting(RowRequest::rowCount).containsExactly(1, 2);
        List<Tensor> first = batch.requests().get(0).inputs();
        List<Tensor> second = batch.requests().get(1).inputs();
        assertThat(first.get(0).spec()).isEqualTo(new TensorSpec("X", Datatype.UINT8, Shape.of(1, 2)));
        assertThat(bytes(first.get(0))).containsExactly(1, 2);
        assertThat(first.get(1).spec()).isEqualTo(new TensorSpec("S", Datatype.BYTES, Shape.of(1)));
        assertThat(bytes(first.get(1))).containsExactly(3, 0, 0, 0, 'o', 'n', 'e');
        assertThat(second.get(0).spec()).isEqualTo(new TensorSpec("X", Datatype.UINT8, Shape.of(2, 2)));
        assertThat(bytes(second.get(0))).containsExactly(3, 4, 5, 6);
        assertThat(bytes(second.get(1))).containsExactly(0, 0, 0, 0, 5, 0, 0, 0, 't', 'h', 'r', 'e', 'e');
        assertThat(batch.requests().get(1).wantedOutputs()).containsExactly("A", "B");
        assertThat(batch.requests().get(1).request()).containsSame(run.request(1));
    }

    @Test
    void shouldNotShareOutTensorsWithoutARowForEach() {
        for (Shape shape : List.of(Shape.of(), Shape.of(2), Shape.of(4, 1))) {
            RecordedExecution run = new RecordedExecution("A")
                    .forRows(1, 2)
                    .bytes("X", Shape.of(3, 1), 1, 2, 3)
                    .bytes("Y", shape, new int[(int) shape.elementCount()]);
            assertThat(RowRequest.of(run, memory, false, Map.of()))
                    .as("%s", shape)
                    .isEmpty();
        }
    }

    @Test
    void shouldCopyResponsesToTheirRowsWhenAllAreThere() {
        RecordedExecution run = new RecordedExecution("A", "S").forRows(1, 2).bytes("X", Shape.of(3), 1, 2, 3);
        RowBatch batch = batch(run, false);
        batch.requests()
                .get(1)
                .take(
                        response(
                                texts("S", Shape.of(2, 1), "second", "third"),
                                bytes("A", Shape.of(2, 2), 3, 4, 5, 6),
                                bytes("UNWANTED", Shape.of(1), 9)),
                        false);
        assertThat(run.outputs()).as("before the first has answered").isEmpty();
        batch.requests().get(0).take(response(bytes("A", Shape.of(1, 2), 1, 2), texts("S", Shape.of(1, 1), "")), false);
        batch.finish();

        assertThat(output(run, "A").spec()).isEqualTo(new TensorSpec("A", Datatype.UINT8, Shape.of(3, 2)));
        assertThat(bytes(output(run, "A"))).containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(output(run, "S").spec()).isEqualTo(new TensorSpec("S", Datatype.BYTES, Shape.of(3, 1)));
        assertThat(texts(output(run, "S"))).containsExactly("", "second", "third");
        assertThat(run.sent()).as("the end of the run sends them").isEmpty();
        blocksShouldBeBack();
    }

    @Test
    void shouldLeaveRowsEmptyOfRequestsThatHaveNoResponse() {
        RecordedExecution run = new RecordedExecution("A", "S").forRows(1, 1, 1).bytes("X", Shape.of(3), 1, 2, 3);
        RowBatch batch = batch(run, false);
        GatunException reason = GatunException.invalidArgument("no");
        batch.requests().get(0).fail(reason);
        batch.requests().get(2).runAgain();
        batch.requests().get(1).take(response(bytes("A", Shape.of(1, 2), 8, 9), texts("S", Shape.of(1), "x")), false);
        batch.finish();

        assertThat(bytes(output(run, "A"))).containsExactly(0, 0, 8, 9, 0, 0);
        assertThat(texts(output(run, "S"))).containsExactly("", "x", "");
        assertThat(run.request(0).failures()).containsExactly(reason);
        assertThat(run.request(1).failures()).isEmpty();
        assertThat(run.request(2).timesAgain()).isEqualTo(1);
        blocksShouldBeBack();
    }

    @Test
    void shouldMakeNoOutputThatNobodyGives() {
        RecordedExecution run = new RecordedExecution("A", "B").forRows(1, 1).bytes("X", Shape.of(2), 1, 2);
        RowBatch batch = batch(run, false);
        batch.finish();
        assertThat(run.outputs()).isEmpty();
        batch.requests().get(0).take(response(bytes("B", Shape.of(1), 1)), false);
        batch.finish();
        assertThat(run.outputs()).containsOnlyKeys("B");
    }

    @Test
    void shouldSetTheParametersOfEachResponse() {
        RecordedExecution run = new RecordedExecution("A").forRows(1, 1).bytes("X", Shape.of(2), 1, 2);
        RowBatch batch = batch(run, false);
        Map<String, ParameterValue> parameters = Map.of("p", new ParameterValue.Int64(5));
        batch.requests().get(1).take(new WorkerResponse(Optional.empty(), parameters, List.of()), false);
        batch.finish();
        assertThat(run.request(0).responseParameters()).isEmpty();
        assertThat(run.request(1).responseParameters()).isEqualTo(parameters);
    }

    @Test
    void shouldSendTheResponsesOfADecoupledModelOneByOne() {
        RecordedExecution run = new RecordedExecution("A").forRows(1, 1).bytes("X", Shape.of(2), 1, 2);
        RowBatch batch = batch(run, true);
        batch.requests().get(1).take(response(bytes("A", Shape.of(1), 7)), true);
        assertThat(run.request(0).timesSkipped()).isEqualTo(1);
        assertThat(run.request(1).timesSkipped()).isZero();
        batch.requests().get(0).take(response(bytes("A", Shape.of(1), 8)), false);
        batch.finish();

        assertThat(run.sent()).hasSize(2);
        assertThat(bytes(Objects.requireNonNull(run.sent().get(0).get("A")))[1]).isEqualTo((byte) 7);
        assertThat(bytes(Objects.requireNonNull(run.sent().get(1).get("A")))[0]).isEqualTo((byte) 8);
        assertThat(run.request(0).timesSkipped()).isEqualTo(1);
        assertThat(run.request(1).timesSkipped()).isEqualTo(1);
        blocksShouldBeBack();
    }

    private void assertRefused(WorkerTensor one, WorkerTensor two, String message) {
        RecordedExecution run = new RecordedExecution("A").forRows(1, 2).bytes("X", Shape.of(3), 1, 2, 3);
        RowBatch batch = batch(run, false);
        batch.requests().get(0).take(response(one), false);
        batch.requests().get(1).take(response(two), false);
        assertThatThrownBy(batch::finish)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessage(message);
        blocksShouldBeBack();
        blocks.clear();
    }

    @Test
    void shouldRefuseOutputsThatDoNotFitTogether() {
        assertRefused(
                bytes("A", Shape.of(1, 2), 1, 2),
                bytes("A", Shape.of(1, 2), 1, 2),
                "output 'A' of one request of a batch has datatype UINT8 and shape [1,2]: expected UINT8 and [2,2], as"
                        + " the others have, since these requests share their tensors");
        assertRefused(
                bytes("A", Shape.of(1, 2), 1, 2),
                bytes("A", Shape.of(2, 3), 1, 2, 3, 4, 5, 6),
                "output 'A' of one request of a batch has datatype UINT8 and shape [2,3]: expected UINT8 and [2,2], as"
                        + " the others have, since these requests share their tensors");
        assertRefused(
                texts("A", Shape.of(1), "x"),
                bytes("A", Shape.of(2), 1, 2),
                "output 'A' of one request of a batch has datatype UINT8 and shape [2]: expected BYTES and [2], as the"
                        + " others have, since these requests share their tensors");
    }

    @Test
    void shouldRefuseAnOutputWithoutRows() {
        assertRefused(
                bytes("A", Shape.of(), 1),
                bytes("A", Shape.of(), 2),
                "output 'A' of one request of a batch has no dimensions: expected its rows as the first, since these"
                        + " requests share their tensors");
    }

    @Test
    void shouldRefuseAnOutputBehindTheEndOfTheMemory() {
        RecordedExecution run = new RecordedExecution("A").forRows(1, 1).bytes("X", Shape.of(2), 1, 2);
        RowBatch batch = batch(run, false);
        TensorSpec spec = new TensorSpec("A", Datatype.UINT8, Shape.of(1, 8));
        batch.requests()
                .get(0)
                .take(response(new WorkerTensor(spec, memory.responseFile().byteSize() - 4, 8)), false);
        assertThatThrownBy(batch::finish)
                .isInstanceOf(GatunException.class)
                .hasMessage("the process of instance 'm_0' names memory that it does not have");
    }

    @Test
    void shouldAddTheBatchDimensionThatARowIsWithout() {
        RecordedExecution run = new RecordedExecution("A").forRows(1, 1).bytes("X", Shape.of(2, 1), 1, 2);
        RowBatch batch = RowRequest.of(run, memory, false, Map.of("A", 2)).orElseThrow();
        batch.requests().get(0).take(response(bytes("A", Shape.of(2), 5, 6)), false);
        batch.requests().get(1).take(response(bytes("A", Shape.of(1, 2), 7, 8)), false);
        batch.finish();
        assertThat(output(run, "A").spec().shape()).isEqualTo(Shape.of(2, 2));
        assertThat(bytes(output(run, "A"))).containsExactly(5, 6, 7, 8);
        blocksShouldBeBack();
    }

    @Test
    void shouldLeaveOutAnOutputThatARequestDoesNotGet() {
        RecordedExecution run = new RecordedExecution("A", "B").forRows(1, 1).bytes("X", Shape.of(2, 1), 1, 2);
        RowBatch batch = batch(run, false);
        batch.requests().get(0).take(response(bytes("A", Shape.of(1, 1), 5)), false);
        batch.requests().get(1).take(response(), false);
        batch.finish();
        assertThat(run.request(0).leftOut()).containsExactly("B");
        assertThat(run.request(1).leftOut()).containsExactly("A", "B");
        assertThat(bytes(output(run, "A"))).containsExactly(5, 0);
    }

    @Test
    void shouldFailRequestsWhoseOutputHasANegativeDimension() {
        RecordedExecution run = new RecordedExecution("A").forRows(1, 1).bytes("X", Shape.of(2, 1), 1, 2);
        RowBatch batch = batch(run, false);
        batch.requests().get(0).take(response(tensor("A", Datatype.BYTES, Shape.of(1, -1), new byte[4])), false);
        assertThatThrownBy(batch::finish)
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("output 'A' has shape");
        blocksShouldBeBack();
    }
}
