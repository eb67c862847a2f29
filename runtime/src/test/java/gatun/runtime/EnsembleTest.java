package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.Datatype;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.runtime.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class EnsembleTest {
    private static final String VECTOR = "data_type: TYPE_FP32 dims: [ -1 ]";

    @TempDir
    Path repository;

    private TestServer test;

    /** Where the inputs of each run lay, by the name of the run's first output. */
    private final Map<String, Long> inputAddresses = new ConcurrentHashMap<>();

    /** What a run does besides, by the name of its first output. */
    private final Map<String, Runnable> before = new ConcurrentHashMap<>();

    @BeforeEach
    void prepare() {
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.pool.usedBytes()).as("memory that nobody gave back").isZero();
    }

    /** What the members do, told by their first output: TWICE doubles, NEXT adds one, SUM adds two vectors, SAME moves nothing. */
    private void compute(Execution execution) {
        String output = execution.outputName(0);
        inputAddresses.put(output, execution.input(0).bytes().address());
        before.getOrDefault(output, () -> {}).run();
        Tensor input = execution.input(0);
        if (output.equals("SAME")) {
            execution.outputFromInput(0, 0, input.spec().shape());
            return;
        }
        MemorySegment made = execution.output(
                0, Datatype.FP32, input.spec().shape(), input.bytes().byteSize());
        for (int i = 0; i < input.bytes().byteSize() / Float.BYTES; i++) {
            float value = input.bytes().getAtIndex(ValueLayout.JAVA_FLOAT, i);
            float result =
                    switch (output) {
                        case "TWICE" -> 2 * value;
                        case "NEXT" -> value + 1;
                        case "SUM" ->
                            value
                                    + (execution.inputCount() < 2
                                            ? 0
                                            : execution.input(1).bytes().getAtIndex(ValueLayout.JAVA_FLOAT, i));
                        default -> throw new AssertionError(output);
                    };
            made.setAtIndex(ValueLayout.JAVA_FLOAT, i, result);
        }
    }

    private static String model(String output, String extra) {
        return "backend: \"scripted\" input [ { name: \"A\" " + VECTOR + " } ] output [ { name: \"" + output + "\" "
                + VECTOR + " } ] " + extra;
    }

    private static final String SUM = "backend: \"scripted\" input [ { name: \"A\" " + VECTOR + " }, { name: \"B\" "
            + VECTOR + " optional: true } ] output [ { name: \"SUM\" " + VECTOR + " } ]";

    private void members() {
        test.model("twice", model("TWICE", "")).model("next", model("NEXT", "")).model("same", model("SAME", ""));
        test.model("sum", SUM);
    }

    private static String step(String model, String inputs, String output) {
        StringBuilder text = new StringBuilder("{ model_name: \"" + model + "\" model_version: -1 ");
        for (String input : inputs.split(" ", -1)) {
            String[] parts = input.split("=", -1);
            text.append("input_map { key: \"" + parts[0] + "\" value: \"" + parts[1] + "\" } ");
        }
        String[] parts = output.split("=", -1);
        return text + "output_map { key: \"" + parts[0] + "\" value: \"" + parts[1] + "\" } }";
    }

    private static String ensemble(String inputs, String outputs, String... steps) {
        StringBuilder text = new StringBuilder("platform: \"ensemble\" ");
        for (String input : inputs.split(" ", -1)) {
            boolean optional = input.endsWith("?");
            text.append("input { name: \"" + input.replace("?", "") + "\" " + VECTOR
                    + (optional ? " optional: true" : "") + " } ");
        }
        for (String output : outputs.split(" ", -1)) {
            text.append("output { name: \"" + output + "\" " + VECTOR + " } ");
        }
        return text + "ensemble_scheduling { step [ " + String.join(", ", steps) + " ] }";
    }

    private static float[] floats(InferenceResponse response, int output) {
        return response.outputs().get(output).tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
    }

    @Test
    void shouldPassTensorsFromStepToStepWithoutACopy() {
        members();
        test.model("e", ensemble("IN", "OUT", step("next", "A=T", "NEXT=OUT"), step("twice", "A=IN", "TWICE=T")))
                .open(this::compute);
        Map<String, Long> made = new ConcurrentHashMap<>();
        before.put("NEXT", () -> made.put("used", test.pool.usedBytes()));
        InferenceRequest request = test.input(test.request("e"), "IN", 3);
        request.id("r7");
        long address = request.inputs().getFirst().bytes().address();
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.modelName()).isEqualTo("e");
            assertThat(response.modelVersion()).isEqualTo("1");
            assertThat(response.id()).isEqualTo("r7");
            assertThat(response.outputs().getFirst().tensor().spec())
                    .isEqualTo(new TensorSpec("OUT", Datatype.FP32, Shape.of(3)));
            assertThat(floats(response, 0)).containsExactly(1, 3, 5);
            assertThat(inputAddresses.get("TWICE"))
                    .as("the client's bytes themselves")
                    .isEqualTo(address);
            assertThat(made.get("used"))
                    .as("the input is given back before the last step")
                    .isEqualTo(256);
        }
    }

    @Test
    void shouldRunIndependentStepsSideBySideAndJoinThem() {
        members();
        test.model(
                        "e",
                        ensemble(
                                "IN",
                                "OUT IN",
                                step("twice", "A=IN", "TWICE=T"),
                                step("next", "A=IN", "NEXT=U"),
                                step("sum", "A=T B=U", "SUM=OUT")))
                .open(this::compute);
        CyclicBarrier together = new CyclicBarrier(2);
        Runnable meet = () -> {
            try {
                together.await(20, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError("the steps did not run side by side", e);
            }
        };
        before.put("TWICE", meet);
        before.put("NEXT", meet);
        try (InferenceResponse response = test.server().infer(test.input(test.request("e"), "IN", 3))) {
            assertThat(floats(response, 0)).containsExactly(1, 4, 7);
            assertThat(response.outputs().get(1).tensor().spec().name()).isEqualTo("IN");
            assertThat(floats(response, 1)).as("an input that is an output too").containsExactly(0, 1, 2);
        }
    }

    @Test
    void shouldGoOnAtOnceWithAStepWhoseInputsAreThereThoughAnotherStillRuns() throws Exception {
        members();
        test.model(
                        "e",
                        ensemble(
                                "IN",
                                "OUT",
                                step("twice", "A=IN", "TWICE=T"),
                                step("next", "A=IN", "NEXT=U"),
                                step("same", "A=U", "SAME=V"),
                                step("sum", "A=T B=V", "SUM=OUT")))
                .open(this::compute);
        CountDownLatch later = new CountDownLatch(1);
        before.put("TWICE", () -> await(later));
        before.put("SAME", later::countDown);
        try (InferenceResponse response = test.server().infer(test.input(test.request("e"), "IN", 2))) {
            assertThat(floats(response, 0)).containsExactly(1, 4);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldShowTheClientsOwnMemoryWhereNoStepMovesIt() {
        members();
        test.model("e", ensemble("IN", "OUT", step("same", "A=IN", "SAME=T"), step("same", "A=T", "SAME=OUT")))
                .open(this::compute);
        InferenceRequest request = test.input(test.request("e"), "IN", 3);
        long address = request.inputs().getFirst().bytes().address();
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().address()).isEqualTo(address);
            assertThat(floats(response, 0)).containsExactly(0, 1, 2);
        }
    }

    @Test
    void shouldLetTheLastStepWriteIntoTheClientsRegion() {
        members();
        test.model("e", ensemble("IN", "OUT T", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease input = new FakeRegions.Lease(arena.allocate(12));
            FakeRegions.Lease out = new FakeRegions.Lease(arena.allocate(12));
            FakeRegions.Lease between = new FakeRegions.Lease(arena.allocate(12));
            input.segment().copyFrom(MemorySegment.ofArray(new float[] {4, 5, 6}));
            InferenceRequest request = test.request("e");
            request.hold(input);
            request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(3)), input.segment()));
            request.addOutput(new RequestedOutput("OUT", Optional.of(out), 0));
            request.hold(out);
            request.addOutput(new RequestedOutput("T", Optional.of(between), 0));
            request.hold(between);
            try (InferenceResponse response = test.server().infer(request)) {
                assertThat(response.outputs()).allMatch(OutputTensor::inSharedMemory);
                assertThat(out.segment().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(9, 11, 13);
                assertThat(between.segment().toArray(ValueLayout.JAVA_FLOAT))
                        .as("wanted by the next step too")
                        .containsExactly(8, 10, 12);
                assertThat(out.settled).isEqualTo(1);
                assertThat(test.pool.usedBytes()).as("all is in regions").isZero();
            }
            assertThat(input.closed).isEqualTo(1);
            assertThat(out.closed).isEqualTo(1);
            assertThat(between.closed).isEqualTo(1);
        }
    }

    @Test
    void shouldNotShowAClientsRegionToTheNetwork() {
        members();
        test.model("e", ensemble("IN", "OUT IN", step("same", "A=IN", "SAME=OUT")))
                .open(this::compute);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(12));
            InferenceRequest request = test.request("e");
            request.hold(lease);
            request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(3)), lease.segment()));
            try (InferenceResponse response = test.server().infer(request)) {
                for (OutputTensor output : response.outputs()) {
                    assertThat(output.inSharedMemory()).isFalse();
                    assertThat(output.tensor().bytes().address())
                            .isNotEqualTo(lease.segment().address());
                }
                assertThat(lease.closed).isEqualTo(1);
            }
        }
    }

    @Test
    void shouldFailWhenARegionBroke() {
        members();
        test.model("e", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=OUT")))
                .open(this::compute);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(12));
            InferenceRequest request = test.input(test.request("e"), "IN", 3);
            request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
            request.hold(lease);
            lease.broken = true;
            assertThatThrownBy(() -> test.server().infer(request)).hasMessage("the region was taken away");
            assertThat(lease.closed).isEqualTo(1);
        }
    }

    @Test
    void shouldRunOnlyTheStepsThatTheWantedOutputsNeed() {
        members();
        test.model("e", ensemble("IN", "OUT T", step("twice", "A=IN", "TWICE=T"), step("next", "A=IN", "NEXT=OUT")))
                .open(this::compute);
        InferenceRequest request = test.input(test.request("e"), "IN", 2);
        request.addOutput(RequestedOutput.of("OUT"));
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(floats(response, 0)).containsExactly(1, 2);
        }
        assertThat(inputAddresses).containsOnlyKeys("NEXT");
    }

    @Test
    void shouldLeaveOutWhatTheClientLeavesOut() {
        members();
        test.model("e", ensemble("IN MORE?", "OUT MORE", step("sum", "A=IN B=MORE", "SUM=OUT")))
                .open(this::compute);
        InferenceRequest without = test.input(test.request("e"), "IN", 2);
        without.addOutput(RequestedOutput.of("OUT"));
        try (InferenceResponse response = test.server().infer(without)) {
            assertThat(floats(response, 0)).containsExactly(0, 1);
        }
        try (InferenceResponse response =
                test.server().infer(test.input(test.input(test.request("e"), "IN", 2), "MORE", 2))) {
            assertThat(floats(response, 0)).containsExactly(0, 2);
        }
        InferenceRequest impossible = test.input(test.request("e"), "IN", 2);
        impossible.id("r1");
        assertThatThrownBy(() -> test.server().infer(impossible))
                .hasMessage(
                        "in ensemble 'e', [request id: r1] unexpected deadlock, at least one output is not set while"
                                + " no more ensemble steps can be made")
                .extracting("code")
                .isEqualTo(ErrorCode.INVALID_ARGUMENT);
    }

    @Test
    void shouldPassBatchesToMembersWithAndWithoutABatchDimension() {
        test.model("twice", model("TWICE", "max_batch_size: 4")).model("next", model("NEXT", ""));
        test.model("batched", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=OUT")) + " max_batch_size: 4")
                .model(
                        "single",
                        ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        try (InferenceResponse response = test.server().infer(test.input(test.request("batched"), "IN", 3, 2))) {
            assertThat(response.outputs().getFirst().tensor().spec().shape()).isEqualTo(Shape.of(3, 2));
        }
        ModelStatistics member = test.server().statistics("twice", "").getFirst();
        assertThat(member.inferenceCount()).isEqualTo(3);
        ModelStatistics own = test.server().statistics("batched", "").getFirst();
        assertThat(own.successCount()).isEqualTo(1);
        assertThat(own.inferenceCount()).isEqualTo(3);
        assertThat(own.executionCount()).isEqualTo(1);
        assertThat(own.requestNanos()).isGreaterThanOrEqualTo(member.requestNanos());
        try (InferenceResponse response = test.server().infer(test.input(test.request("single"), "IN", 2))) {
            assertThat(response.outputs().getFirst().tensor().spec().shape())
                    .as("a batch of one on the way only")
                    .isEqualTo(Shape.of(2));
            assertThat(floats(response, 0)).containsExactly(1, 3);
        }
    }

    @Test
    void shouldRunEnsemblesOfEnsembles() {
        members();
        test.model("a-outer", ensemble("IN", "OUT", step("inner", "IN=IN", "OUT=T"), step("next", "A=T", "NEXT=OUT")))
                .model("inner", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=OUT")))
                .open(this::compute);
        try (InferenceResponse response = test.server().infer(test.input(test.request("a-outer"), "IN", 2))) {
            assertThat(floats(response, 0)).containsExactly(1, 3);
        }
        before.put("TWICE", () -> {
            throw GatunException.invalidArgument("no doubles today");
        });
        assertThatThrownBy(() -> test.server().infer(test.input(test.request("a-outer"), "IN", 2)))
                .hasMessage("in ensemble 'a-outer', in ensemble 'inner', no doubles today");
        assertThat(test.server().statistics("a-outer", "").getFirst().failureOther())
                .isEqualTo(1);
    }

    @Test
    void shouldStopWhatRunsBesideAFailure() throws Exception {
        members();
        test.model(
                        "e",
                        ensemble(
                                "IN",
                                "OUT",
                                step("twice", "A=IN", "TWICE=T"),
                                step("next", "A=IN", "NEXT=U"),
                                step("sum", "A=T B=U", "SUM=OUT")))
                .open(this::compute);
        CountDownLatch running = new CountDownLatch(1);
        before.put("NEXT", () -> {
            running.countDown();
            awaitStopped();
            throw GatunException.invalidArgument("stopped");
        });
        before.put("TWICE", () -> {
            await(running);
            throw GatunException.invalidArgument("no doubles today");
        });
        assertThatThrownBy(() -> test.server().infer(test.input(test.request("e"), "IN", 2)))
                .hasMessage("in ensemble 'e', no doubles today");
        assertThat(inputAddresses).doesNotContainKey("SUM");
        assertThat(test.server().statistics("next", "").getFirst().failureCanceled())
                .isEqualTo(1);
    }

    private void awaitStopped() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (test.backend.stopped.get() == 0) {
            assertThat(System.nanoTime()).as("told to stop in time").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldStopItsStepsWhenTheClientGivesUp() throws Exception {
        members();
        test.model("e", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT")))
                .open(this::compute);
        CountDownLatch running = new CountDownLatch(1);
        before.put("TWICE", () -> {
            running.countDown();
            awaitStopped();
            throw GatunException.invalidArgument("stopped");
        });
        InferenceRequest request = test.input(test.request("e"), "IN", 2);
        Cancellation cancellation = request.cancellation();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> answer = threads.submit(() -> test.server().infer(request));
            await(running);
            cancellation.cancel();
            assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS))
                    .cause()
                    .asInstanceOf(InstanceOfAssertFactories.type(GatunException.class))
                    .extracting(GatunException::code)
                    .isEqualTo(ErrorCode.CANCELLED);
        }
        assertThat(inputAddresses).doesNotContainKey("NEXT");
        assertThat(test.server().statistics("e", "").getFirst().failureCanceled())
                .isEqualTo(1);
    }

    @Test
    void shouldGiveMembersTheIdPriorityTimeoutAndParametersOfTheRequest() {
        members();
        test.open(this::compute);
        InferenceRequest request = test.request("twice");
        request.id("r1");
        request.priority(3);
        request.timeoutMicros(500);
        request.parameter("p", new ParameterValue.Bool(true));
        InferenceRequest other = request.onBehalf(test.server().model("next", ""));
        assertThat(other.model().name()).isEqualTo("next");
        assertThat(other.id()).isEqualTo("r1");
        assertThat(other.priority()).isEqualTo(3);
        assertThat(other.timeoutMicros()).isEqualTo(500);
        assertThat(other.parameters()).containsEntry("p", new ParameterValue.Bool(true));
        assertThat(other.inputs()).isEmpty();
    }

    @Test
    void shouldClassifyByItsOwnLabelsOrByThoseOfTheStep() {
        members();
        test.model(
                "labelled",
                "backend: \"scripted\" input [ { name: \"A\" " + VECTOR
                        + " } ] output [ { name: \"TWICE\" data_type: TYPE_FP32 dims: [ -1 ] label_filename: \"l.txt\" } ]");
        test.file("labelled/l.txt", "zero\none\ntwo\n");
        test.model("e", ensemble("IN", "OUT", step("labelled", "A=IN", "TWICE=OUT")))
                .open(this::compute);
        InferenceRequest request = test.input(test.request("e"), "IN", 3);
        request.addOutput(new RequestedOutput("OUT", Optional.empty(), 1));
        try (InferenceResponse response = test.server().infer(request)) {
            MemorySegment bytes = response.outputs().getFirst().tensor().bytes();
            assertThat(new String(bytes.asSlice(4).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8))
                    .isEqualTo("4.000000:2:two");
        }
    }

    @Test
    void shouldSayWhichMemberIsMissing() {
        members();
        test.model("absent", ensemble("IN", "OUT", step("nobody", "A=IN", "NEXT=OUT")))
                .model("broken", "backend: \"unknown\"")
                .model("needsbroken", ensemble("IN", "OUT", step("broken", "A=IN", "NEXT=OUT")))
                .model(
                        "version",
                        ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT").replace("-1", "7")))
                .model("circle", ensemble("IN", "OUT", step("ring", "IN=IN", "OUT=OUT")))
                .model("ring", ensemble("IN", "OUT", step("circle", "IN=IN", "OUT=OUT")))
                .open(this::compute);
        assertThat(reason("absent")).isEqualTo("ensemble 'absent' depends on 'nobody' which has no loaded version.");
        assertThat(reason("needsbroken"))
                .isEqualTo(
                        "ensemble 'needsbroken' depends on 'broken' which has no loaded version. Model 'broken' loading"
                                + " failed with error: " + reason("broken"));
        assertThat(reason("version"))
                .isEqualTo("ensemble 'version' depends on 'next' whose required version 7 is not loaded.");
        assertThat(reason("ring")).isEqualTo("circular dependency between ensembles: ring -> circle -> ring");
        assertThat(test.server().ready()).isFalse();
    }

    private String reason(String model) {
        return test.server().index().stream()
                .filter(status -> status.name().equals(model))
                .findFirst()
                .orElseThrow()
                .reason();
    }

    @Test
    void shouldSayHowMembersDoNotFitTogether() {
        members();
        test.model(
                "ints",
                "backend: \"scripted\" input [ { name: \"A\" data_type: TYPE_INT32 dims: [ 4 ] } ] output [ { name: \"INTS\""
                        + " data_type: TYPE_INT32 dims: [ 4 ] } ]");
        test.model(
                "five",
                "backend: \"scripted\" input [ { name: \"A\" data_type: TYPE_INT32 dims: [ 5 ] } ] output [ { name: \"NEXT\" "
                        + VECTOR + " } ]");
        test.model("input", ensemble("IN", "OUT", step("next", "X=IN", "NEXT=OUT")))
                .model("unmapped", ensemble("IN", "OUT", step("sum", "B=IN", "SUM=OUT")))
                .model("output", ensemble("IN", "OUT", step("next", "A=IN", "X=OUT")))
                .model("type", ensemble("IN", "OUT", step("ints", "A=IN", "INTS=OUT")))
                .model(
                        "shape",
                        ensemble("IN", "OUT", step("ints", "A=IN", "INTS=T"), step("five", "A=T", "NEXT=OUT"))
                                .replaceFirst("TYPE_FP32", "TYPE_INT32"))
                .model("batch", ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT")) + " max_batch_size: 2")
                .open(this::compute);
        assertThat(reason("input"))
                .isEqualTo("in ensemble input, ensemble tensor IN is mapping to non-existing input X in model next");
        assertThat(reason("unmapped"))
                .isEqualTo("in ensemble unmapped, input A in model sum is not mapped to any ensemble tensors");
        assertThat(reason("output"))
                .isEqualTo(
                        "in ensemble output, ensemble tensor OUT is mapped from non-existing output X in model next");
        assertThat(reason("type"))
                .isEqualTo(
                        "in ensemble type, ensemble tensor IN: inconsistent data type: TYPE_FP32 is inferred from model"
                                + " type while TYPE_INT32 is inferred from model ints");
        assertThat(reason("shape"))
                .isEqualTo(
                        "in ensemble shape, ensemble tensor T: inconsistent shape: [4] is inferred from model ints while"
                                + " [5] is inferred from model five");
        assertThat(reason("batch"))
                .isEqualTo("ensemble batch allows maximum batch size 2, but it contains model next which only allows"
                        + " maximum batch size to be 0");
    }

    /** A decoupled member: a response for each element of its input, which holds so many ones. */
    private void count(Execution execution) {
        if (!execution.outputName(0).equals("EACH")) {
            compute(execution);
            return;
        }
        Tensor input = execution.input(0);
        for (int i = 0; i < input.bytes().byteSize() / Float.BYTES; i++) {
            before.getOrDefault("EACH", () -> {}).run();
            execution
                    .output(0, Datatype.FP32, Shape.of(1), Float.BYTES)
                    .set(ValueLayout.JAVA_FLOAT, 0, input.bytes().getAtIndex(ValueLayout.JAVA_FLOAT, i));
            execution.send();
        }
    }

    private void openDecoupled(String outputs, String... steps) {
        members();
        test.model("each", model("EACH", "model_transaction_policy { decoupled: true }"));
        test.model("e", ensemble("IN", outputs, steps)).open(this::count);
    }

    @Test
    void shouldRunWhatFollowsADecoupledMemberOncePerResponse() {
        openDecoupled(
                "OUT",
                step("next", "A=IN", "NEXT=T"),
                step("each", "A=T", "EACH=U"),
                step("sum", "A=V B=W", "SUM=OUT"),
                step("twice", "A=U", "TWICE=V"),
                step("same", "A=U", "SAME=W"));
        List<Float> answers = new ArrayList<>();
        test.server().infer(test.input(test.request("e"), "IN", 3), (response, last) -> {
            try (response) {
                assertThat(response.modelName()).isEqualTo("e");
                answers.add(floats(response, 0)[0]);
            }
        });
        assertThat(answers).as("thrice each element plus one").containsExactly(3F, 6F, 9F);
        assertThat(test.server().model("e", "").decoupled()).isTrue();
        assertThat(test.server().statistics("twice", "").getFirst().successCount())
                .isEqualTo(3);
        assertThat(test.server().statistics("e", "").getFirst().successCount()).isEqualTo(1);
        InferenceRequest unary = test.input(test.request("e"), "IN", 3);
        assertThatThrownBy(() -> test.server().infer(unary)).extracting("code").isEqualTo(ErrorCode.UNSUPPORTED);
    }

    @Test
    void shouldShowInEachAnswerWhatIsMadeOncePerRequest() {
        openDecoupled("OUT T IN", step("next", "A=IN", "NEXT=T"), step("each", "A=T", "EACH=OUT"));
        List<String> answers = new ArrayList<>();
        test.server().infer(test.input(test.request("e"), "IN", 2), (response, last) -> {
            try (response) {
                answers.add(floats(response, 0)[0] + " " + floats(response, 1)[1] + " " + floats(response, 2)[1]);
            }
        });
        assertThat(answers).containsExactly("1.0 2.0 1.0", "2.0 2.0 1.0");
    }

    @Test
    void shouldEndADecoupledMemberWhenAStepBehindItFails() {
        openDecoupled("OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT"));
        AtomicInteger runs = new AtomicInteger();
        before.put("NEXT", () -> {
            if (runs.incrementAndGet() == 2) {
                throw GatunException.invalidArgument("the second is too much");
            }
        });
        AtomicInteger answers = new AtomicInteger();
        InferenceRequest request = test.input(test.request("e"), "IN", 1000);
        assertThatThrownBy(() -> test.server().infer(request, (response, last) -> {
                    response.close();
                    answers.incrementAndGet();
                }))
                .hasMessage("in ensemble 'e', the second is too much");
        assertThat(answers).hasValue(1);
        assertThat(runs).hasValue(2);
    }

    @Test
    void shouldThrowWhatTheReceiverThrows() {
        openDecoupled("OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT"));
        InferenceRequest request = test.input(test.request("e"), "IN", 1000);
        assertThatThrownBy(() -> test.server().infer(request, (response, last) -> {
                    response.close();
                    throw new IllegalStateException("the client is gone");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the client is gone");
    }

    @Test
    void shouldRefuseToJoinResponsesOfDifferentDecoupledMembers() {
        members();
        test.model("each", model("EACH", "model_transaction_policy { decoupled: true }"));
        test.model(
                        "join",
                        ensemble(
                                "IN",
                                "OUT",
                                step("each", "A=IN", "EACH=T"),
                                step("each", "A=IN", "EACH=U"),
                                step("sum", "A=T B=U", "SUM=OUT")))
                .model(
                        "cached",
                        ensemble("IN", "OUT", step("each", "A=IN", "EACH=OUT")) + " response_cache { enable: true }")
                .model("two", ensemble("IN", "OUT T", step("each", "A=IN", "EACH=T"), step("each", "A=IN", "EACH=OUT")))
                .open(this::count);
        assertThat(reason("join"))
                .isEqualTo("in ensemble join, step of model 'sum' receives inputs originated from different decoupled"
                        + " models");
        assertThat(reason("cached"))
                .isEqualTo("Response Cache does not currently support model cached with 'decoupled' transaction policy."
                        + " Please disable the response cache.");
        assertThat(reason("two")).isEqualTo("in ensemble two, outputs originate from different decoupled models");
    }
}
