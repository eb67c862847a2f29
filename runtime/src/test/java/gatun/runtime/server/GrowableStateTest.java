// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** States that grow where they lie: a model that writes down what came, one number more with each step. */
@Timeout(60)
class GrowableStateTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            sequence_batching {
              max_sequence_idle_microseconds: 60000000
              oldest { }
              state [ {
                input_name: "LIST_IN" output_name: "LIST_OUT" data_type: TYPE_INT32 dims: [ -1 ]
                use_same_buffer_for_input_output: true
                use_growable_memory: true
              } ]
            }
            """;

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final List<List<Integer>> seen = new ArrayList<>();
    private final Set<Long> addresses = new HashSet<>();
    private CountDownLatch gate = new CountDownLatch(0);
    private volatile int runs;
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder).model("m", MODEL);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
    }

    /** Adds IN at the end of each row's list, and nothing more: what was there before is there already. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // by the instance's thread only
    private void append(Execution execution) {
        runs++;
        try {
            assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        Tensor in = execution.input(0);
        Tensor list = execution.input(1);
        int rows = (int) list.spec().shape().dim(0);
        long before = list.spec().shape().dim(1);
        Shape shape = Shape.of(rows, before + 1);
        MemorySegment longer = execution.output(1, Datatype.INT32, shape, shape.byteSize(Datatype.INT32));
        addresses.add(longer.address());
        for (int i = 0; i < rows; i++) {
            longer.setAtIndex(
                    ElementLayouts.INT32, (i + 1) * (before + 1) - 1, in.bytes().getAtIndex(ElementLayouts.INT32, i));
        }
        seen.add(Arrays.stream(longer.toArray(ElementLayouts.INT32)).boxed().toList());
        execution
                .output(0, Datatype.INT32, in.spec().shape(), in.bytes().byteSize())
                .copyFrom(in.bytes());
    }

    private void step(long id, int value, boolean starts, boolean ends) {
        InferenceRequest request = test.request("m");
        request.correlationId(id);
        request.sequenceStart(starts);
        request.sequenceEnd(ends);
        test.input(request, "IN", Datatype.INT32, Integer.BYTES, 1, 1);
        request.inputs().getFirst().bytes().setAtIndex(ElementLayouts.INT32, 0, value);
        try (request;
                InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().getAtIndex(ElementLayouts.INT32, 0))
                    .isEqualTo(value);
        }
    }

    @Test
    void shouldKeepWhatTheStateHoldsWhileItGrows() {
        test.open(this::append);

        step(1, 1, true, false);
        step(1, 2, false, false);
        step(1, 3, false, true);

        assertThat(seen).containsExactly(List.of(0, 1), List.of(0, 1, 2), List.of(0, 1, 2, 3));
    }

    @Test
    void shouldSeldomMoveAStateThatGrowsOften() {
        test.open(this::append);

        step(1, 0, true, false);
        for (int i = 0; i < 200; i++) {
            step(1, i, false, i == 199);
        }

        assertThat(seen.getLast()).hasSize(202).endsWith(197, 198, 199);
        assertThat(addresses).as("places of the state").hasSizeLessThan(16);
    }

    @Test
    void shouldBeginSmallWhenTheSequenceIsStartedAgain() {
        test.open(this::append);

        step(1, 1, true, false);
        step(1, 2, false, false);
        step(1, 3, true, false);
        step(1, 4, false, true);

        assertThat(seen).containsExactly(List.of(0, 1), List.of(0, 1, 2), List.of(0, 3), List.of(0, 3, 4));
    }

    @Test
    void shouldKeepEachRowInItsPlaceWhereSequencesRunTogether() throws Exception {
        test.open(this::append);
        step(1, 10, true, false);
        step(2, 20, true, false);
        gate = new CountDownLatch(1);
        Future<?> blocker = clients.submit(() -> step(3, 30, true, true));
        awaitRuns(3);
        Future<?> first = clients.submit(() -> step(1, 11, false, false));
        awaitPending(1);
        Future<?> second = clients.submit(() -> step(2, 21, false, false));
        awaitPending(2);
        gate.countDown();
        for (Future<?> sent : List.of(blocker, first, second)) {
            sent.get(30, TimeUnit.SECONDS);
        }
        step(2, 22, false, true);

        assertThat(seen)
                .containsExactly(
                        List.of(0, 10),
                        List.of(0, 20),
                        List.of(0, 30),
                        List.of(0, 10, 11, 0, 20, 21),
                        List.of(0, 20, 21, 22));
    }

    private void awaitRuns(int count) {
        Await.until("run " + count, () -> runs >= count);
    }

    private void awaitPending(long count) {
        Await.until(
                "%s to wait".formatted(count),
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() == count);
    }

    @Test
    void shouldRefuseAStateThatGrowsWhereItMayNot() {
        test.model("m", MODEL.replace("    use_growable_memory: true\n", "")).open(this::append);

        assertThatThrownBy(() -> step(1, 1, true, false))
                .hasMessage(
                        "state 'LIST_OUT' of model 'm' has 8 bytes, expected 4 as before: it is written where it was"
                                + " read,"
                                + " because of use_same_buffer_for_input_output; use_growable_memory lets it grow"
                                + " there");
    }
}
