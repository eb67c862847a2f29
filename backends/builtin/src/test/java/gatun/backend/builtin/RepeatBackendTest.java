// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The backend as the runtime finds and drives it. */
@Timeout(60)
class RepeatBackendTest {
    private static final String TENSORS = """
            backend: "repeat"
            input [
              { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
              { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
              { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] }
            ]
            output [
              { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
              { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] }
            ]
            """;

    private static final String DECOUPLED = TENSORS + "model_transaction_policy { decoupled: true }";

    private static final String ITERATIVE = DECOUPLED + "sequence_batching { iterative_sequence: true %s }";

    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private final BufferPool pool = runtime.pool();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final List<List<Integer>> responses = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    @AfterEach
    void endClients() {
        clients.close();
    }

    private void open(String config) throws IOException {
        Files.createDirectories(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), config);
        server = runtime.serve(repository);
    }

    private InferenceRequest request(int[] elements, int[] delays, int wait) {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        input(request, "IN", Datatype.INT32, elements);
        input(request, "DELAY", Datatype.UINT32, delays);
        input(request, "WAIT", Datatype.UINT32, wait);
        return request;
    }

    private void input(InferenceRequest request, String name, Datatype datatype, int... values) {
        Buffer buffer = pool.take(Math.max(1, values.length * Integer.BYTES));
        request.hold(buffer);
        for (int i = 0; i < values.length; i++) {
            buffer.segment().setAtIndex(ElementLayouts.INT32, i, values[i]);
        }
        request.addInput(new Tensor(
                new TensorSpec(name, datatype, Shape.of(values.length)),
                buffer.segment().asSlice(0, (long) values.length * Integer.BYTES)));
    }

    private void receive(InferenceResponse response, boolean last) {
        try (response) {
            assertThat(last).isFalse();
            responses.add(response.outputs().stream()
                    .map(output -> output.tensor().bytes().get(ElementLayouts.INT32, 0))
                    .toList());
        }
    }

    @Test
    void shouldAnswerWithEachElementInTurn() throws IOException {
        open(DECOUPLED);
        long started = System.nanoTime();
        server.infer(request(new int[] {7, -8, 9}, new int[] {0, 60, 0}, 100), this::receive);
        assertThat(responses).containsExactly(List.of(7, 0), List.of(-8, 1), List.of(9, 2));
        assertThat(System.nanoTime() - started).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
    }

    @Test
    void shouldAnswerNothingToNothing() throws IOException {
        open(DECOUPLED);
        server.infer(request(new int[0], new int[0], 0), this::receive);
        assertThat(responses).isEmpty();
    }

    @Test
    void shouldSendOnlyTheOutputsThatAreWanted() throws IOException {
        open(DECOUPLED);
        InferenceRequest request = request(new int[] {5, 6}, new int[] {0, 0}, 0);
        request.addOutput(RequestedOutput.of("IDX"));
        server.infer(request, this::receive);
        assertThat(responses).containsExactly(List.of(0), List.of(1));
    }

    @Test
    void shouldRefuseDelaysThatAreNotOneForEachElement() throws IOException {
        open(DECOUPLED);
        assertThatThrownBy(() -> server.infer(request(new int[] {1, 2}, new int[] {0}, 0), this::receive))
                .hasMessage("expected IN and DELAY shape to match, got [2] and [1]; give one delay for each element");
    }

    @Test
    void shouldStopWhenTheClientDoes() throws Exception {
        open(DECOUPLED);
        CountDownLatch first = new CountDownLatch(1);
        InferenceRequest request = request(new int[] {1, 2}, new int[] {0, 3_000_000}, 0);
        Future<?> answer = clients.submit(() -> server.infer(request, (response, last) -> {
            response.close();
            first.countDown();
        }));
        assertThat(first.await(30, TimeUnit.SECONDS)).isTrue();
        request.cancellation().cancel();
        assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
    }

    /** Begins a request that waits for a very long time before its second response; returns once it has its first. */
    private Future<?> waiting(InferenceRequest request) throws InterruptedException {
        CountDownLatch first = new CountDownLatch(1);
        Future<?> answer = clients.submit(() -> server.infer(request, (response, last) -> {
            response.close();
            first.countDown();
        }));
        assertThat(first.await(30, TimeUnit.SECONDS)).isTrue();
        return answer;
    }

    @Test
    void shouldAnswerOthersWhileRequestsWait() throws Exception {
        open(DECOUPLED);
        List<InferenceRequest> requests = new ArrayList<>();
        List<Future<?>> answers = new ArrayList<>();
        // One more than may be detached: the instance's thread does that itself.
        for (int i = 0; i < 65; i++) {
            if (i == 64) {
                server.infer(request(new int[] {7}, new int[] {0}, 0), this::receive);
                assertThat(responses).as("the 65th at a time").containsExactly(List.of(7, 0));
            }
            requests.add(request(new int[] {1, 2}, new int[] {0, 3_000_000}, 0));
            answers.add(waiting(requests.getLast()));
        }
        requests.forEach(request -> request.cancellation().cancel());
        for (Future<?> answer : answers) {
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        }
        server.infer(request(new int[] {8, 9}, new int[] {0, 0}, 0), this::receive);
        assertThat(responses).containsExactly(List.of(7, 0), List.of(8, 0), List.of(9, 1));
        assertThat(server.statistics().getFirst().successCount()).isEqualTo(2);
    }

    @Test
    void shouldLetRequestsEndThatWaitWhenTheServerCloses() throws Exception {
        open(DECOUPLED);
        Future<?> answer = waiting(request(new int[] {1, 2}, new int[] {0, 300}, 0));
        server.close();
        answer.get(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldAnswerWithOneElementInEachRunOfAnIterativeModel() throws IOException {
        open(ITERATIVE.formatted(""));
        server.infer(request(new int[] {7, -8, 9}, new int[] {0, 0, 0}, 0), this::receive);
        server.infer(request(new int[0], new int[0], 0), this::receive);
        assertThat(responses).containsExactly(List.of(7, 0), List.of(-8, 1), List.of(9, 2));
        assertThat(server.statistics().getFirst().executionCount()).isEqualTo(4);
        assertThat(server.statistics().getFirst().successCount()).isEqualTo(2);
    }

    @Test
    void shouldNotLoadAnIterativeModelOfOtherStates() throws IOException {
        open(ITERATIVE.formatted("state { input_name: \"A\" output_name: \"B\" data_type: TYPE_UINT32 dims: [ 1 ] }"));
        assertThat(server.index())
                .extracting(ModelStatus::reason)
                .containsExactly("the repeat backend cannot run model 'm': it is iterative and has other states than"
                        + " NEXT_IN, NEXT_OUT of TYPE_UINT32 [ 1 ]; leave them out");
    }

    @Test
    void shouldAnswerOneElementWhereTheModelIsNotDecoupled() throws IOException {
        open(TENSORS);
        try (InferenceResponse response = server.infer(request(new int[] {7}, new int[] {0}, 0))) {
            assertThat(response.outputs().stream()
                            .map(output -> output.tensor().bytes().get(ElementLayouts.INT32, 0)))
                    .containsExactly(7, 0);
        }
        assertThatThrownBy(() -> server.infer(request(new int[] {7, 8}, new int[] {0, 0}, 0)))
                .hasMessage("expected a single response, got 2");
    }

    @Test
    void shouldNotLoadAModelOfOtherTensors() throws IOException {
        open(DECOUPLED.replace("\"WAIT\"", "\"PAUSE\""));
        assertThat(server.index())
                .extracting(ModelStatus::reason)
                .containsExactly("the repeat backend cannot run model 'm': it has no input 'WAIT' of TYPE_UINT32");
    }
}
