// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.backend.python.PythonInstance.ApartPythonRun;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ExecutionRequest;
import gatun.workers.WorkerMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PythonRunTest {
    private static final RunEvent LATER = new RunEvent.Returned(List.of(new RunEvent.Outcome.Later()));

    private final WorkerMemory memory = new WorkerMemory("m_0", 1 << 20);
    private final Taken taken = new Taken();

    @AfterEach
    void close() {
        memory.close();
    }

    /** A request that keeps what it is given. */
    private static final class Taken implements RunRequest {
        final List<Long> offsets = new ArrayList<>();
        final List<String> failures = new ArrayList<>();

        @Override
        public Optional<ExecutionRequest> request() {
            return Optional.empty();
        }

        @Override
        public List<Tensor> inputs() {
            return List.of();
        }

        @Override
        public List<String> wantedOutputs() {
            return List.of();
        }

        @Override
        public void take(WorkerResponse response, boolean more) {
            response.tensors().forEach(tensor -> offsets.add(tensor.offset()));
        }

        @Override
        public void takeFailure(GatunException reason) {
            failures.add(reason.getMessage());
        }

        @Override
        public void fail(GatunException reason) {
            throw reason;
        }

        @Override
        public void runAgain() {}
    }

    private static RunEvent sent(long offset, boolean last) {
        WorkerTensor tensor = new WorkerTensor(new TensorSpec("Y", Datatype.INT8, Shape.of(1)), offset, 1);
        return new RunEvent.Sent(0, last, Optional.of(new WorkerResponse(Optional.empty(), Map.of(), List.of(tensor))));
    }

    private PythonRun decoupled() {
        return new PythonRun(List.of(taken), memory, true);
    }

    @Test
    void shouldTakeAllResponsesUpToTheLast() {
        PythonRun run = decoupled();
        run.tell(sent(64, false));
        run.tell(LATER);
        assertThat(run.awaitReturn(Duration.ZERO)).isTrue();
        assertThat(run.isOver()).isFalse();
        run.tell(sent(128, false));
        run.tell(sent(192, true));
        run.finish();
        assertThat(taken.offsets).containsExactly(64L, 128L, 192L);
    }

    @Test
    void shouldFailARunWhoseClientTakesNothing() {
        PythonRun run = decoupled();
        run.tell(LATER);
        for (int i = 0; i < PythonRun.MOST_WAITING; i++) {
            run.tell(sent(64, false));
        }
        assertThat(memory.drainReturned()).isEmpty();
        run.tell(sent(128, false));
        assertThat(memory.drainReturned()).as("what is too much").containsExactly(128L);

        assertThat(run.awaitReturn(Duration.ZERO)).isTrue();
        assertThatThrownBy(run::finish)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessageContaining("faster than its client takes them: 4096 wait");
        run.close();
        assertThat(memory.drainReturned()).as("what waited").hasSize(PythonRun.MOST_WAITING);
        run.tell(sent(256, false));
        assertThat(memory.drainReturned()).as("what comes later").containsExactly(256L);
    }

    @Test
    void shouldTakeAnyNumberWhoseClientFollows() {
        PythonRun run = decoupled();
        for (int i = 0; i < PythonRun.MOST_WAITING; i++) {
            run.tell(sent(64, false));
        }
        run.tell(LATER);
        assertThat(run.awaitReturn(Duration.ZERO)).isTrue();
        for (int i = 1; i < PythonRun.MOST_WAITING; i++) {
            run.tell(sent(64, false));
        }
        run.tell(sent(64, true));
        run.finish();
        assertThat(taken.offsets).hasSize(2 * PythonRun.MOST_WAITING);
    }

    @Test
    void shouldEndByTheOnlyResponseOfAModelThatIsNotDecoupled() {
        PythonRun run = new PythonRun(List.of(taken), memory, false);
        run.tell(sent(64, false));
        run.tell(new RunEvent.Failed(new GatunException(ErrorCode.INTERNAL, "sent twice")));
        assertThat(run.awaitReturn(Duration.ZERO)).isTrue();
        run.finish();
        assertThat(taken.offsets).containsExactly(64L);
    }

    private static RunEvent failed(boolean last, String text) {
        GatunException reason = new GatunException(ErrorCode.INTERNAL, text);
        return new RunEvent.Sent(0, last, Optional.of(new WorkerResponse(Optional.of(reason), Map.of(), List.of())));
    }

    @Test
    void shouldGoOnAfterAFailureThatIsNotTheLast() {
        PythonRun run = decoupled();
        run.tell(LATER);
        run.tell(failed(false, "not this one"));
        run.tell(sent(64, true));
        run.finish();
        assertThat(taken.failures).containsExactly("not this one");
        assertThat(taken.offsets).containsExactly(64L);
    }

    @Test
    void shouldEndByAFailureThatIsTheLast() {
        PythonRun run = decoupled();
        run.tell(LATER);
        run.tell(failed(true, "the end"));
        assertThatThrownBy(run::finish).hasMessage("the end");
        assertThat(taken.failures).isEmpty();
    }

    @Test
    void shouldGiveEachRequestOfADecoupledModelWhatIsForIt() {
        Taken other = new Taken();
        ApartPythonRun run = new ApartPythonRun(List.of(taken, other), memory);
        run.tell(sent(64, true));
        run.tell(new RunEvent.Returned(List.of(new RunEvent.Outcome.Later(), new RunEvent.Outcome.Later())));
        assertThat(run.awaitReturn(Duration.ZERO)).isTrue();
        run.part(0).finish();
        assertThat(taken.offsets).containsExactly(64L);

        run.tell(new RunEvent.Failed(new GatunException(ErrorCode.INTERNAL, "the process has ended")));
        assertThatThrownBy(run.part(1)::finish).hasMessage("the process has ended");
        assertThat(other.offsets).isEmpty();
    }

    @Test
    void shouldTellThatACallTakesTooLong() {
        ApartPythonRun run = new ApartPythonRun(List.of(taken, new Taken()), memory);
        assertThat(run.awaitReturn(Duration.ofMillis(1))).isFalse();
    }
}
