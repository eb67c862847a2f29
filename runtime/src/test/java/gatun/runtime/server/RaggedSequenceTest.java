// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.testing.Await;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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

/**
 * Steps of sequences whose shapes differ and that run together all the same, and what the backend sees of their
 * sequences.
 */
@Timeout(60)
class RaggedSequenceTest {
    private static final String BEGINNING = """
            backend: "scripted"
            max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            batch_input [ { kind: BATCH_ELEMENT_COUNT target_name: "COUNTS" data_type: TYPE_INT32 source_input: "IN" } ]
            batch_output [ { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "OUT" source_input: "IN" } ]
            instance_group [ { count: 1 } ]
            sequence_batching {
              max_sequence_idle_microseconds: 60000000
              control_input [
                { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] }
              ]
            """;

    /** The tensors that a run of the model got. */
    private record Run(
            Shape shape, List<Integer> counts, List<Integer> ready, List<Float> values, List<String> sequences) {}

    private final List<Run> runs = new CopyOnWriteArrayList<>();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private volatile CountDownLatch gate = new CountDownLatch(0);
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

    private void open(String strategy) {
        test.model("m", BEGINNING + strategy + "}").open(this::run);
    }

    /** Answers with the elements as they came. */
    private void run(Execution execution) {
        Tensor in = execution.input(0);
        runs.add(new Run(
                in.spec().shape(),
                integers(execution, "COUNTS"),
                integers(execution, "READY"),
                floats(in),
                execution.requests().stream().map(RaggedSequenceTest::sequence).toList()));
        try {
            assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        execution
                .output(0, Datatype.FP32, in.spec().shape(), in.bytes().byteSize())
                .copyFrom(in.bytes());
    }

    private static String sequence(ExecutionRequest request) {
        return request.correlationId().map(Object::toString).orElse("none")
                + (request.startsSequence() ? " starts" : "")
                + (request.endsSequence() ? " ends" : "");
    }

    private static List<Integer> integers(Execution execution, String name) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return Arrays.stream(execution.input(i).bytes().toArray(ElementLayouts.INT32))
                        .boxed()
                        .toList();
            }
        }
        throw new AssertionError("no input " + name);
    }

    private static List<Float> floats(Tensor tensor) {
        float[] values = tensor.bytes().toArray(ValueLayout.JAVA_FLOAT);
        List<Float> list = new ArrayList<>();
        for (float value : values) {
            list.add(value);
        }
        return list;
    }

    private InferenceRequest step(long id, int elements, String flags) {
        InferenceRequest request = test.request("m");
        request.correlationId(id);
        request.sequenceStart(flags.contains("start"));
        request.sequenceEnd(flags.contains("end"));
        return test.input(request, "IN", 1, elements);
    }

    private List<Float> answer(InferenceRequest request) {
        try (request;
                InferenceResponse response = test.server().infer(request)) {
            Tensor out = response.outputs().getFirst().tensor();
            assertThat(out.spec().shape())
                    .isEqualTo(request.inputs().getFirst().spec().shape());
            return floats(out);
        }
    }

    private Future<List<Float>> send(InferenceRequest request) {
        return clients.submit(() -> answer(request));
    }

    private void awaitPending(long count) {
        Await.until(
                "%s to wait".formatted(count),
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() == count);
    }

    /** Has the steps run together, after one of another sequence that occupies the model. */
    private List<Future<List<Float>>> together(InferenceRequest blocker, InferenceRequest... steps) {
        gate = new CountDownLatch(1);
        Future<List<Float>> blocking = send(blocker);
        Await.until("the model", () -> !runs.isEmpty());
        List<Future<List<Float>>> responses = new ArrayList<>(List.of(blocking));
        for (int i = 0; i < steps.length; i++) {
            responses.add(send(steps[i]));
            awaitPending(i + 1);
        }
        gate.countDown();
        return responses;
    }

    @Test
    void shouldRunTheOldestStepsTogetherThoughTheirShapesDiffer() throws Exception {
        open("oldest { max_candidate_sequences: 8 }");

        List<Future<List<Float>>> responses =
                together(step(1, 1, "start end"), step(2, 3, "start"), step(3, 2, "start end"));

        assertThat(responses.get(0).get(30, TimeUnit.SECONDS)).containsExactly(0f);
        assertThat(responses.get(1).get(30, TimeUnit.SECONDS)).containsExactly(0f, 1f, 2f);
        assertThat(responses.get(2).get(30, TimeUnit.SECONDS)).containsExactly(0f, 1f);
        assertThat(runs)
                .containsExactly(
                        new Run(Shape.of(1), List.of(1), List.of(1), List.of(0f), List.of("1 starts ends")),
                        new Run(
                                Shape.of(5),
                                List.of(3, 2),
                                List.of(1, 1),
                                List.of(0f, 1f, 2f, 0f, 1f),
                                List.of("2 starts", "3 starts ends")));
    }

    @Test
    void shouldFillTheGapsBetweenStepsThatKeepTheirPlaces() throws Exception {
        open("direct { }");

        List<Future<List<Float>>> responses = together(step(1, 1, "start"), step(2, 3, "start"), step(3, 2, "start"));
        for (Future<List<Float>> answer : responses) {
            answer.get(30, TimeUnit.SECONDS);
        }
        assertThat(answer(step(3, 2, "end"))).containsExactly(0f, 1f);

        assertThat(runs.get(1))
                .as("in the first place the sequence that has no step")
                .isEqualTo(new Run(
                        Shape.of(8),
                        List.of(3, 3, 2),
                        List.of(0, 1, 1),
                        List.of(0f, 0f, 0f, 0f, 1f, 2f, 0f, 1f),
                        List.of("none", "2 starts", "3 starts")));
        assertThat(runs.get(2))
                .isEqualTo(new Run(
                        Shape.of(6),
                        List.of(2, 2, 2),
                        List.of(0, 0, 1),
                        List.of(0f, 0f, 0f, 0f, 0f, 1f),
                        List.of("none", "none", "3 ends")));
    }

    @Test
    void shouldTellTheBackendWhatTheClientSaidWhereThereAreNoSequences() {
        List<String> sequences = new CopyOnWriteArrayList<>();
        test.model(
                        "m",
                        "backend: \"scripted\" input [ { name: \"IN\" data_type: TYPE_FP32 dims: [ 1 ] } ]"
                                + " output [ { name: \"OUT\" data_type: TYPE_FP32 dims: [ 1 ] } ]")
                .open(execution -> {
                    execution.requests().forEach(request -> sequences.add(sequence(request)));
                    ScriptedBackend.copy(execution);
                });
        InferenceRequest named = test.input(test.request("m"), "IN", 1);
        named.correlationId("a");
        named.sequenceEnd(true);

        answer(named);
        answer(test.input(test.request("m"), "IN", 1));

        assertThat(sequences).containsExactly("a ends", "none");
        assertThat(test.request("m").correlationId()).isEqualTo(Optional.empty());
    }
}
