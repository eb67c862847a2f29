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
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The responses of decoupled members on their way through an ensemble. */
@Timeout(60)
class ResponsesSideBySideTest extends EnsembleFixture {
    private void open(String model) {
        test.model("next", model("NEXT", instances(4)))
                .model("each", model("EACH", DECOUPLED))
                .model("times", model("TIMES", DECOUPLED))
                .model("twice", model("TWICE", ""))
                .model("sum", SUM)
                .model("e", model)
                .open(this::compute);
    }

    private InferenceRequest request(int elements) {
        return test.input(test.request("e"), "IN", elements);
    }

    private List<Float> answers(InferenceRequest request) {
        List<Float> responses = new ArrayList<>();
        test.server().infer(request, (response, last) -> {
            try (response) {
                responses.add(floats(response, 0)[0]);
            }
        });
        return responses;
    }

    private static String eachNext(String more) {
        return ensemble("IN", "OUT", step("each", "A=IN", "EACH=T"), step("next", "A=T", "NEXT=OUT"))
                .replace("ensemble_scheduling {", "ensemble_scheduling { " + more);
    }

    @Test
    void shouldRunTheStepsBehindEachResponseAtOnceAndAnswerInTheOrderOfTheStream() {
        open(eachNext(""));
        holdFirst(2);
        assertThat(answers(request(3))).containsExactly(1F, 2F, 3F);
    }

    @Test
    void shouldNotHaveADecoupledMemberWaitForAStepThatItDoesNotNeed() {
        open(ensemble(
                "IN",
                "OUT",
                step("twice", "A=IN", "TWICE=V"),
                step("each", "A=IN", "EACH=T"),
                step("next", "A=T", "NEXT=U"),
                step("sum", "A=U B=V", "SUM=OUT")));
        CountDownLatch behind = new CountDownLatch(1);
        before.put("TWICE", () -> Await.opened(behind));
        beforeElement.put("NEXT", element -> behind.countDown());
        InferenceRequest request = test.input(test.request("e"), "IN", 1);
        assertThat(answers(request)).as("joined with what came later").containsExactly(1F);
    }

    @Test
    void shouldJoinWhatComesLateWithEachResponse() {
        open(ensemble(
                "IN",
                "OUT",
                step("twice", "A=IN", "TWICE=V"),
                step("each", "A=IN", "EACH=T"),
                step("sum", "A=T B=V", "SUM=OUT")));
        CountDownLatch sent = new CountDownLatch(3);
        before.put("EACH", sent::countDown);
        before.put("TWICE", () -> Await.opened(sent));
        assertThat(answers(request(3))).as("each element and twice the first").containsExactly(0F, 1F, 2F);
    }

    @Test
    void shouldAnswerStreamsInsideOfStreamsInTheirOrder() {
        open(ensemble(
                "IN",
                "OUT",
                step("each", "A=IN", "EACH=T"),
                step("next", "A=T", "NEXT=U"),
                step("times", "A=U", "TIMES=V"),
                step("next", "A=V", "NEXT=OUT")));
        assertThat(answers(request(3))).containsExactly(2F, 3F, 3F, 4F, 4F, 4F);
    }

    @Test
    void shouldNotBeStoppedByALaterStreamThatHasTheInstanceAnEarlierOneNeeds() {
        open(ensemble(
                "IN",
                "OUT",
                step("each", "A=IN", "EACH=T"),
                step("next", "A=T", "NEXT=U"),
                step("times", "A=U", "TIMES=OUT")));
        // The second is ready long before the first, and answers more often than may be on their way.
        CountDownLatch second = new CountDownLatch(1);
        beforeElement.put("NEXT", element -> {
            if (element == 49) {
                Await.opened(second);
            } else {
                second.countDown();
            }
        });
        InferenceRequest request = request(2);
        MemorySegment input = request.inputs().getFirst().bytes();
        input.setAtIndex(ValueLayout.JAVA_FLOAT, 0, 49);
        input.setAtIndex(ValueLayout.JAVA_FLOAT, 1, 99);
        List<Float> responses = answers(request);
        assertThat(responses).hasSize(150);
        assertThat(responses.subList(0, 50)).containsOnly(50F);
        assertThat(responses.subList(50, 150)).containsOnly(100F);
    }

    @Test
    void shouldRunNoStepMoreOftenAtATimeThanItsLimitSays() throws Exception {
        open(eachNext("max_inflight_requests: 2"));
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Runnable meet = meeting();
        before.put("NEXT", () -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            meet.run();
            running.decrementAndGet();
        });
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<Float>>> clients = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                InferenceRequest request = request(8);
                clients.add(threads.submit(() -> answers(request)));
            }
            for (Future<List<Float>> client : clients) {
                assertThat(client.get(30, TimeUnit.SECONDS)).containsExactly(1F, 2F, 3F, 4F, 5F, 6F, 7F, 8F);
            }
        }
        assertThat(most).hasValue(2);
    }

    @Test
    void shouldNotWaitForItsTurnWhenTheClientGivesUp() throws Exception {
        open(eachNext("max_inflight_requests: 1"));
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        before.put("NEXT", () -> {
            first.countDown();
            Await.opened(release);
        });
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            InferenceRequest holding = request(1);
            Future<List<Float>> holds = threads.submit(() -> answers(holding));
            Await.opened(first);
            InferenceRequest waiting = request(1);
            Cancellation cancellation = waiting.cancellation();
            Future<List<Float>> waits = threads.submit(() -> answers(waiting));
            cancellation.cancel();
            assertThatThrownBy(() -> waits.get(20, TimeUnit.SECONDS))
                    .cause()
                    .asInstanceOf(InstanceOfAssertFactories.type(GatunException.class))
                    .extracting(GatunException::code)
                    .isEqualTo(ErrorCode.CANCELLED);
            release.countDown();
            assertThat(holds.get(20, TimeUnit.SECONDS)).containsExactly(1F);
        }
    }

    @Test
    void shouldHaveAFastMemberWaitForASlowClient() {
        open(eachNext(""));
        AtomicInteger sent = new AtomicInteger();
        before.put("EACH", sent::incrementAndGet);
        int ahead = 16 + 8 + 1; // on their way, before the steps, and being made
        AtomicInteger responses = new AtomicInteger();
        test.server().infer(request(2000), (response, last) -> {
            response.close();
            if (responses.incrementAndGet() == 1) {
                Await.until("goes ahead", () -> sent.get() >= ahead);
            }
            assertThat(sent.get()).isLessThanOrEqualTo(responses.get() + ahead);
        });
        assertThat(responses).hasValue(2000);
    }

    @Test
    void shouldPutEachAnswerIntoTheClientsRegionWhenItsTurnHasCome() {
        open(eachNext(""));
        holdFirst(2);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(4));
            InferenceRequest request = request(3);
            request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
            request.hold(lease);
            List<Float> seen = new ArrayList<>();
            test.server().infer(request, (response, last) -> {
                try (response) {
                    assertThat(response.outputs().getFirst().inSharedMemory()).isTrue();
                    seen.add(lease.segment().get(ValueLayout.JAVA_FLOAT, 0));
                }
            });
            assertThat(seen).containsExactly(1F, 2F, 3F);
            assertThat(lease.closed).isEqualTo(1);
        }
    }

    @Test
    void shouldHandOnEachResponseWhereItLies() {
        open(ensemble(
                "IN",
                "OUT V",
                step("twice", "A=IN", "TWICE=V"),
                step("each", "A=V", "EACH=T"),
                step("next", "A=T", "NEXT=U"),
                step("sum", "A=U B=V", "SUM=OUT")));
        List<Long> responses = new ArrayList<>();
        List<Long> shared = new ArrayList<>();
        test.server().infer(request(3), (response, last) -> {
            try (response) {
                responses.add(response.outputs().get(0).tensor().bytes().address());
                shared.add(response.outputs().get(1).tensor().bytes().address());
            }
        });
        assertThat(addresses.get("EACH<A")).isEqualTo(addresses.get("TWICE"));
        assertThat(addresses.get("NEXT<A")).hasSize(3).containsExactlyInAnyOrderElementsOf(addresses.get("EACH"));
        assertThat(addresses.get("SUM<A")).containsExactlyInAnyOrderElementsOf(addresses.get("NEXT"));
        assertThat(addresses.get("SUM<B"))
                .hasSize(3)
                .containsOnly(Objects.requireNonNull(addresses.get("TWICE")).getFirst());
        assertThat(responses).containsExactlyInAnyOrderElementsOf(addresses.get("SUM"));
        assertThat(shared).hasSize(3).containsOnly(addresses.get("TWICE").getFirst());
    }

    @Test
    void shouldStopTheStreamWhenAStepBesideItFails() {
        open(ensemble(
                "IN",
                "OUT",
                step("twice", "A=IN", "TWICE=V"),
                step("each", "A=IN", "EACH=T"),
                step("sum", "A=T B=V", "SUM=OUT")));
        CountDownLatch sending = new CountDownLatch(3);
        before.put("EACH", sending::countDown);
        before.put("TWICE", () -> {
            Await.opened(sending);
            throw GatunException.invalidArgument("no doubles today");
        });
        assertThatThrownBy(() -> answers(request(1000))).hasMessage("in ensemble 'e', no doubles today");
    }

    @Test
    void shouldAnswerWhatAMemberSaidBeforeItFailed() {
        open(eachNext(""));
        CountDownLatch failing = new CountDownLatch(1);
        beforeElement.put("EACH", element -> {
            if (element == 2) {
                failing.countDown();
                throw GatunException.invalidArgument("three is a crowd");
            }
        });
        beforeElement.put("NEXT", element -> Await.opened(failing));
        List<Float> responses = new ArrayList<>();
        InferenceRequest request = request(5);
        assertThatThrownBy(() -> test.server().infer(request, (response, last) -> {
                    try (response) {
                        responses.add(floats(response, 0)[0]);
                    }
                }))
                .hasMessage("in ensemble 'e', three is a crowd");
        assertThat(responses).containsExactly(1F, 2F);
    }

    @Test
    void shouldLeaveOutBehindADecoupledMemberWhatItLeavesOut() {
        test.model("some", """
                backend: "scripted" input { name: "A" data_type: TYPE_FP32 dims: [ -1 ] }
                output [ { name: "ONE" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "MORE" data_type: TYPE_FP32 dims: [ -1 ] } ]
                """ + DECOUPLED)
                .model("sum", SUM)
                .model(
                        "e",
                        ensemble(
                                "IN",
                                "OUT MORE",
                                step("some", "A=IN", "ONE=T")
                                        .replace(
                                                "output_map",
                                                "output_map { key: \"MORE\" value: \"MORE\" } output_map"),
                                step("sum", "A=T B=MORE", "SUM=OUT")))
                .open(execution -> {
                    if (execution.outputCount() < 2) {
                        compute(execution);
                        return;
                    }
                    for (int response = 0; response < 2; response++) {
                        for (int output = 0; output < 2; output++) {
                            if (response == 1 || execution.outputName(output).equals("ONE")) {
                                execution
                                        .output(output, Datatype.FP32, Shape.of(1), Float.BYTES)
                                        .set(ValueLayout.JAVA_FLOAT, 0, 5);
                            }
                        }
                        execution.send();
                    }
                });
        List<String> responses = new ArrayList<>();
        test.server().infer(request(1), (response, last) -> {
            try (response) {
                responses.add(response.outputs().stream()
                                .map(OutputTensor::tensor)
                                .map(Tensor::spec)
                                .map(TensorSpec::name)
                                .toList()
                        + " " + floats(response, 0)[0]);
            }
        });
        assertThat(responses).containsExactly("[OUT] 5.0", "[OUT, MORE] 10.0");
    }
}
