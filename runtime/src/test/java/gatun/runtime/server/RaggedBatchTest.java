// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.RequestedOutput;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests whose shapes differ and that run together all the same. */
@Timeout(60)
class RaggedBatchTest {
    /** Runs as soon as three rows wait, and not before. */
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 8
            dynamic_batching { preferred_batch_size: [ 3 ] max_queue_delay_microseconds: 60000000 }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1, -1 ] allow_ragged_batch: true } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String ROWS = MODEL + """
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            """;

    private static final String CUT = MODEL + """
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2, -1 ] } ]
            batch_output [ { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "OUT" source_input: "IN" } ]
            """;

    private final Arena arena = Arena.ofShared();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, TensorSpec> specs = new LinkedHashMap<>();
    private final Map<String, MemorySegment> bytes = new LinkedHashMap<>();
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
        arena.close();
    }

    /** Serves a model that notes its inputs and then does what {@code script} says. */
    private void open(String config, Consumer<Execution> script) {
        test.model("m", config).open(execution -> {
            for (int i = 0; i < execution.inputCount(); i++) {
                Tensor input = execution.input(i);
                specs.put(input.spec().name(), input.spec());
                bytes.put(
                        input.spec().name(), MemorySegment.ofArray(input.bytes().toArray(ValueLayout.JAVA_BYTE)));
                assertThat(execution.inputSpec(i)).isEqualTo(input.spec());
            }
            script.accept(execution);
        });
    }

    /** A number for each row of the batch: which one it is. */
    private static void rowNumbers(Execution execution, int rows) {
        MemorySegment out = execution.output(0, Datatype.FP32, Shape.of(rows, 1), 4L * rows);
        for (int i = 0; i < rows; i++) {
            out.setAtIndex(ElementLayouts.FP32, i, i);
        }
    }

    /** All elements of the ragged input, as they are. */
    private static void flat(Execution execution) {
        Tensor input = execution.input(0);
        execution
                .output(0, Datatype.FP32, input.spec().shape(), input.bytes().byteSize())
                .copyFrom(input.bytes());
    }

    private InferenceRequest request(float first, long... dims) {
        MemorySegment segment = arena.allocate(Shape.of(dims).elementCount() * Float.BYTES, 64);
        for (int i = 0; i < Shape.of(dims).elementCount(); i++) {
            segment.setAtIndex(ElementLayouts.FP32, i, first + i);
        }
        InferenceRequest request = test.request("m");
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(dims)), segment));
        return request;
    }

    /** Sends requests one after the other, each when the one before waits. */
    private List<Future<InferenceResponse>> send(InferenceRequest... requests) {
        List<Future<InferenceResponse>> responses = new ArrayList<>();
        for (int i = 0; i < requests.length; i++) {
            InferenceRequest request = requests[i];
            responses.add(clients.submit(() -> test.server().infer(request)));
            if (i < requests.length - 1) {
                awaitPending(i + 1);
            }
        }
        return responses;
    }

    private void awaitPending(int count) {
        Await.until(
                "%s to wait".formatted(count),
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() >= count);
    }

    private static float[] answer(Future<InferenceResponse> future, long... dims) throws Exception {
        try (InferenceResponse response = future.get(30, TimeUnit.SECONDS)) {
            Tensor output = response.outputs().getFirst().tensor();
            assertThat(output.spec().shape()).isEqualTo(Shape.of(dims));
            return output.bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    private int[] ints(String input) {
        return Objects.requireNonNull(bytes.get(input)).toArray(ElementLayouts.INT32);
    }

    private float[] floats(String input) {
        return Objects.requireNonNull(bytes.get(input)).toArray(ElementLayouts.FP32);
    }

    private static String batchInput(String kind, String datatype) {
        return ROWS + "batch_input [ { kind: " + kind + " target_name: \"MADE\" data_type: " + datatype
                + " source_input: \"IN\" } ]";
    }

    @Test
    void shouldRunRequestsOfDifferentShapesTogetherAsOneRowOfElements() throws Exception {
        open(ROWS, execution -> rowNumbers(execution, 3));
        List<Future<InferenceResponse>> responses = send(request(1, 1, 2, 1), request(10, 2, 1, 3));
        assertThat(answer(responses.get(0), 1, 1)).containsExactly(0);
        assertThat(answer(responses.get(1), 2, 1)).containsExactly(1, 2);
        assertThat(Objects.requireNonNull(specs.get("IN")).shape()).isEqualTo(Shape.of(8));
        assertThat(floats("IN")).containsExactly(1, 2, 10, 11, 12, 13, 14, 15);
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.executionCount()).isEqualTo(1);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(3);
    }

    @Test
    void shouldGiveTheSameFormToARequestThatRunsAlone() throws Exception {
        open(ROWS, execution -> rowNumbers(execution, 3));
        assertThat(answer(send(request(1, 3, 2, 2)).getFirst(), 3, 1)).containsExactly(0, 1, 2);
        assertThat(Objects.requireNonNull(specs.get("IN")).shape()).isEqualTo(Shape.of(12));
    }

    // Two requests: one row of 2x1, two rows of 1x3.
    @ParameterizedTest
    @CsvSource({
        "BATCH_ELEMENT_COUNT, '2', '2 6'",
        "BATCH_ACCUMULATED_ELEMENT_COUNT, '2', '2 8'",
        "BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO, '3', '0 2 8'",
        "BATCH_MAX_ELEMENT_COUNT_AS_SHAPE, '6', '0 0 0 0 0 0'",
        "BATCH_ITEM_SHAPE, '3 2', '2 1 1 3 1 3'",
        "BATCH_ITEM_SHAPE_FLATTEN, '6', '2 1 1 3 1 3'",
    })
    void shouldTellTheModelWhereTheElementsOfEachRequestLie(String kind, String dims, String values) throws Exception {
        open(batchInput(kind, "TYPE_INT32"), execution -> rowNumbers(execution, 3));
        List<Future<InferenceResponse>> responses = send(request(1, 1, 2, 1), request(10, 2, 1, 3));
        assertThat(answer(responses.get(0), 1, 1)).containsExactly(0);
        assertThat(answer(responses.get(1), 2, 1)).containsExactly(1, 2);
        assertThat(specs.get("MADE")).isEqualTo(new TensorSpec("MADE", Datatype.INT32, Shape.of(longs(dims))));
        assertThat(Arrays.stream(ints("MADE")).mapToObj(Integer::toString)).containsExactly(values.split(" "));
    }

    private static long[] longs(String text) {
        return Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    @Test
    void shouldTellItInFloatsToAModelThatWantsFloats() throws Exception {
        open(
                batchInput("BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "TYPE_FP32"),
                execution -> rowNumbers(execution, 3));
        answer(send(request(1, 3, 2, 2)).getFirst(), 3, 1);
        assertThat(Objects.requireNonNull(specs.get("MADE")).datatype()).isEqualTo(Datatype.FP32);
        assertThat(floats("MADE")).containsExactly(0, 12);
    }

    @Test
    void shouldCutAnOutputByTheShapesOfAnInput() throws Exception {
        open(CUT, RaggedBatchTest::flat);
        MemorySegment window = arena.allocate(24, 64);
        InferenceRequest inRegion = request(10, 1, 2, 3);
        FakeRegions.Lease lease = new FakeRegions.Lease(window);
        inRegion.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
        inRegion.hold(lease);
        List<Future<InferenceResponse>> responses = send(request(1, 2, 2, 1), inRegion);
        assertThat(answer(responses.get(0), 2, 2, 1)).containsExactly(1, 2, 3, 4);
        assertThat(answer(responses.get(1), 1, 2, 3)).containsExactly(10, 11, 12, 13, 14, 15);
        assertThat(window.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(10, 11, 12, 13, 14, 15);
        assertThat(test.server().statistics().getFirst().executionCount()).isEqualTo(1);
    }

    @Test
    void shouldWriteIntoWindowsSideBySideInPlaceWhenItCuts() throws Exception {
        List<Long> addresses = new ArrayList<>();
        MemorySegment windows = arena.allocate(40, 64);
        test.model("m", CUT)
                .openInPlace(
                        execution -> {
                            Tensor input = execution.input(0);
                            MemorySegment out = execution.output(
                                    0,
                                    Datatype.FP32,
                                    input.spec().shape(),
                                    input.bytes().byteSize());
                            addresses.add(out.address());
                            out.copyFrom(input.bytes());
                        },
                        "OUT");
        InferenceRequest first = request(1, 2, 2, 1);
        InferenceRequest second = request(10, 1, 2, 3);
        window(first, windows.asSlice(0, 16));
        window(second, windows.asSlice(16, 24));
        for (Future<InferenceResponse> answer : send(first, second)) {
            answer.get(30, TimeUnit.SECONDS).close();
        }
        assertThat(addresses).containsExactly(windows.address());
        assertThat(windows.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3, 4, 10, 11, 12, 13, 14, 15);
    }

    private static void window(InferenceRequest request, MemorySegment segment) {
        FakeRegions.Lease lease = new FakeRegions.Lease(segment);
        request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
        request.hold(lease);
    }

    @Test
    void shouldAnswerEachWithItsOwnInputWhenTheModelRepeatsIt() throws Exception {
        open(
                CUT,
                execution ->
                        execution.outputFromInput(0, 0, execution.inputSpec(0).shape()));
        List<Future<InferenceResponse>> responses = send(request(1, 2, 2, 1), request(10, 1, 2, 3));
        assertThat(answer(responses.get(0), 2, 2, 1)).containsExactly(1, 2, 3, 4);
        assertThat(answer(responses.get(1), 1, 2, 3)).containsExactly(10, 11, 12, 13, 14, 15);
    }

    @Test
    void shouldFailABatchWhoseOutputIsTooSmallToBeCut() {
        open(CUT, execution -> execution.output(0, Datatype.FP32, Shape.of(3), 12));
        for (Future<InferenceResponse> answer : send(request(1, 2, 2, 1), request(10, 1, 2, 3))) {
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                    .hasRootCauseMessage("output 'OUT' of model 'm' has shape [3], too small to be cut by the shapes of"
                            + " input 'IN'");
        }
    }
}
