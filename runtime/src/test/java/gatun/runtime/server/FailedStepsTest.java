// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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

/** Steps of sequences that ran together with one that the model cannot take: a number below zero. */
@Timeout(60)
class FailedStepsTest {
    private static final String STATE = """
            state [ {
              input_name: "SUM_IN" output_name: "SUM_OUT" data_type: TYPE_FP32 dims: [ 1 ]
              initial_state { data_type: TYPE_FP32 dims: [ 1 ] zero_data: true name: "zero" }
            } ]
            """;

    /** Keeps the instance busy until others wait. */
    private static final float BLOCKING = 1000;

    private final List<Integer> runs = new CopyOnWriteArrayList<>();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch busy = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
    }

    private void open(String state) {
        test.model("m", """
                backend: "scripted"
                max_batch_size: 4
                sequence_batching { max_sequence_idle_microseconds: 60000000 oldest { } %s }
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
                instance_group [ { count: 1 } ]
                """.formatted(state)).open(this::add);
    }

    /** All outputs are the sum of all inputs, row by row. */
    private void add(Execution execution) {
        Tensor in = execution.input(0);
        if (value(in, 0) == BLOCKING) {
            busy.countDown();
            Await.opened(gate);
        } else {
            runs.add(execution.requests().size());
        }
        int rows = execution.requests().size();
        float[] sums = new float[rows];
        for (int i = 0; i < execution.inputCount(); i++) {
            for (int row = 0; row < rows; row++) {
                sums[row] += value(execution.input(i), row);
            }
        }
        for (int i = 0; i < execution.outputCount(); i++) {
            execution
                    .output(i, in.spec().datatype(), in.spec().shape(), in.byteSize())
                    .copyFrom(MemorySegment.ofArray(sums));
        }
        for (int row = 0; row < rows; row++) {
            if (value(in, row) < 0) {
                throw GatunException.invalidArgument(value(in, row) + " is no index");
            }
        }
    }

    private static float value(Tensor tensor, int index) {
        return tensor.bytes().getAtIndex(ElementLayouts.FP32, index);
    }

    private InferenceRequest step(long sequence, float value, boolean starts) {
        InferenceRequest request = test.input(test.request("m"), "IN", 1, 1);
        request.correlationId(sequence);
        request.sequenceStart(starts);
        request.inputs().getFirst().bytes().setAtIndex(ElementLayouts.FP32, 0, value);
        return request;
    }

    private float answer(InferenceRequest request) {
        try (InferenceResponse response = test.server().infer(request)) {
            return value(response.outputs().getFirst().tensor(), 0);
        }
    }

    /** Has steps wait for the instance until all of them are there. */
    private List<Future<Float>> together(InferenceRequest... steps) throws Exception {
        Future<Float> blocking = clients.submit(() -> answer(step(99, BLOCKING, true)));
        Await.opened(busy);
        runs.clear();
        List<Future<Float>> answers = new ArrayList<>();
        for (InferenceRequest step : steps) {
            answers.add(clients.submit(() -> answer(step)));
            int waiting = answers.size();
            Await.until(
                    waiting + " to wait",
                    () -> test.server().statistics().getFirst().totals().pendingRequestCount() == waiting);
        }
        gate.countDown();
        blocking.get(20, TimeUnit.SECONDS);
        return answers;
    }

    @Test
    void shouldTakeTheStepsOfOthersWhereTheServerHoldsTheState() throws Exception {
        open(STATE);
        answer(step(1, 5, true));
        answer(step(2, 7, true));

        List<Future<Float>> answers = together(step(1, 1, false), step(2, -1, false));

        assertThat(answers.get(0).get(20, TimeUnit.SECONDS)).isEqualTo(6);
        assertThatThrownBy(() -> answers.get(1).get(20, TimeUnit.SECONDS)).hasRootCauseMessage("-1.0 is no index");
        assertThat(runs).containsExactly(2, 1, 1);
        assertThat(answer(step(1, 1, false))).as("applied once").isEqualTo(7);
        assertThat(answer(step(2, 1, false))).as("not applied").isEqualTo(8);
    }

    @Test
    void shouldNotRunStepsAgainWhoseStateTheModelHolds() throws Exception {
        open("");
        answer(step(1, 5, true));
        answer(step(2, 7, true));

        for (Future<Float> answer : together(step(1, 1, false), step(2, -1, false))) {
            assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS)).hasRootCauseMessage("-1.0 is no index");
        }
        assertThat(runs).containsExactly(2);
    }
}
