// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.Cancellation;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelStatistics;
import gatun.runtime.RequestedOutput;
import gatun.spi.ParameterValue;
import gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EnsembleTest extends EnsembleFixture {
    private void awaitStopped() {
        Await.until("told to stop in time", () -> test.backend.stopped.get() != 0);
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
    void shouldHandOnToEveryStepAndTheAnswerWhatTheStepBeforeWroteWhereItLies() {
        members();
        test.model(
                        "e",
                        ensemble(
                                "IN",
                                "OUT T",
                                step("twice", "A=IN", "TWICE=T"),
                                step("next", "A=T", "NEXT=U"),
                                step("sum", "A=T B=U", "SUM=OUT")))
                .open(this::compute);
        InferenceRequest request = test.input(test.request("e"), "IN", 3);
        long address = request.inputs().getFirst().bytes().address();
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(floats(response, 0)).containsExactly(1, 5, 9);
            assertThat(addresses.get("TWICE<A")).containsExactly(address);
            assertThat(addresses.get("NEXT<A")).isEqualTo(addresses.get("TWICE"));
            assertThat(addresses.get("SUM<A")).isEqualTo(addresses.get("TWICE"));
            assertThat(addresses.get("SUM<B")).isEqualTo(addresses.get("NEXT"));
            assertThat(response.outputs())
                    .extracting(output -> output.tensor().bytes().address())
                    .containsExactly(
                            Objects.requireNonNull(addresses.get("SUM")).getFirst(),
                            Objects.requireNonNull(addresses.get("TWICE")).getFirst());
        }
    }

    @Test
    void shouldRunIndependentStepsSideBySideAndJoinThem() {
        members();
        test.model("e", diamond("OUT IN")).open(this::compute);
        Runnable meet = meeting();
        before.put("TWICE", meet);
        before.put("NEXT", meet);
        try (InferenceResponse response = test.server().infer(test.input(test.request("e"), "IN", 3))) {
            assertThat(floats(response, 0)).containsExactly(1, 4, 7);
            assertThat(response.outputs().get(1).tensor().spec().name()).isEqualTo("IN");
            assertThat(floats(response, 1)).as("an input that is an output too").containsExactly(0, 1, 2);
        }
    }

    @Test
    void shouldTellThatItIsTakenInOnceItsFirstStepsAre() {
        members();
        test.model("e", diamond("OUT")).open(this::compute);
        InferenceRequest request = test.input(test.request("e"), "IN", 2);
        CountDownLatch submitted = new CountDownLatch(1);
        request.onSubmitted(submitted::countDown);
        before.put("TWICE", () -> Await.opened(submitted));
        before.put("NEXT", () -> Await.opened(submitted));
        test.server().infer(request).close();
    }

    @Test
    void shouldTellThatItIsTakenInOnceItsStepsOfSequencesAre() {
        test.model("twice", model("TWICE", "")).model("next", model("NEXT", "sequence_batching { direct { } }"));
        test.model("inner", ensemble("IN", "OUT", step("next", "A=IN", "NEXT=OUT")));
        test.model("e", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("inner", "IN=T", "OUT=OUT")));
        test.open(this::compute);
        InferenceRequest request = test.input(test.request("e"), "IN", 2);
        request.correlationId(7);
        request.sequenceStart(true);
        CountDownLatch submitted = new CountDownLatch(1);
        request.onSubmitted(submitted::countDown);
        before.put("TWICE", () -> assertThat(submitted.getCount())
                .as("another request could overtake this one until the sequence has it")
                .isEqualTo(1));
        before.put("NEXT", () -> Await.opened(submitted));
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(floats(response, 0)).containsExactly(1, 3);
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
        before.put("TWICE", () -> Await.opened(later));
        before.put("SAME", later::countDown);
        try (InferenceResponse response = test.server().infer(test.input(test.request("e"), "IN", 2))) {
            assertThat(floats(response, 0)).containsExactly(1, 4);
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
                assertThat(response.outputs()).hasSize(2).allMatch(OutputTensor::inSharedMemory);
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
        assertThat(member.totals().inferenceCount()).isEqualTo(3);
        ModelStatistics own = test.server().statistics("batched", "").getFirst();
        assertThat(own.successCount()).isEqualTo(1);
        assertThat(own.totals().inferenceCount()).isEqualTo(3);
        assertThat(own.executionCount()).isEqualTo(1);
        assertThat(own.totals().nanos().request())
                .isGreaterThanOrEqualTo(member.totals().nanos().request());
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
        assertThat(test.server()
                        .statistics("a-outer", "")
                        .getFirst()
                        .totals()
                        .failures()
                        .other())
                .isEqualTo(2);
    }

    @Test
    void shouldStopWhatRunsBesideAFailure() throws Exception {
        members();
        test.model("e", diamond("OUT")).open(this::compute);
        CountDownLatch running = new CountDownLatch(1);
        before.put("NEXT", () -> {
            running.countDown();
            awaitStopped();
            throw GatunException.invalidArgument("stopped");
        });
        before.put("TWICE", () -> {
            Await.opened(running);
            throw GatunException.invalidArgument("no doubles today");
        });
        assertThatThrownBy(() -> test.server().infer(test.input(test.request("e"), "IN", 2)))
                .hasMessage("in ensemble 'e', no doubles today");
        assertThat(inputAddresses).doesNotContainKey("SUM");
        assertThat(test.server()
                        .statistics("next", "")
                        .getFirst()
                        .totals()
                        .failures()
                        .canceled())
                .isEqualTo(1);
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
            Await.opened(running);
            cancellation.cancel();
            assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS))
                    .cause()
                    .asInstanceOf(InstanceOfAssertFactories.type(GatunException.class))
                    .extracting(GatunException::code)
                    .isEqualTo(ErrorCode.CANCELLED);
        }
        assertThat(inputAddresses).doesNotContainKey("NEXT");
        assertThat(test.server()
                        .statistics("e", "")
                        .getFirst()
                        .totals()
                        .failures()
                        .canceled())
                .isEqualTo(1);
    }

    @Test
    void shouldTellThePlaceOfTheRequestInItsSequence() {
        members();
        test.model("e", ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=OUT")))
                .open(this::compute);
        try (InferenceResponse alone = test.server().infer(test.input(test.request("e"), "IN", 2))) {
            assertThat(alone.parameters())
                    .containsExactly(
                            Map.entry("sequence_id", new ParameterValue.Int64(0)),
                            Map.entry("sequence_start", new ParameterValue.Bool(false)),
                            Map.entry("sequence_end", new ParameterValue.Bool(false)));
        }
        InferenceRequest last = test.input(test.request("e"), "IN", 2);
        last.correlationId("s7");
        last.sequenceEnd(true);
        try (InferenceResponse answered = test.server().infer(last)) {
            assertThat(answered.parameters())
                    .containsEntry("sequence_id", new ParameterValue.Text("s7"))
                    .containsEntry("sequence_start", new ParameterValue.Bool(false))
                    .containsEntry("sequence_end", new ParameterValue.Bool(true));
        }
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
}
