// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

@Timeout(60)
class GatunServerTest {
    private static final String ONE = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            """;

    @TempDir
    Path repository;

    private TestServer test;

    @BeforeEach
    void prepare() {
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.pool.usedBytes()).isZero();
    }

    @Test
    void shouldAnswerFromPooledMemoryThatTheResponseOwns() {
        test.model("m", ONE).open(ScriptedBackend::copy);
        InferenceRequest request = test.input(test.request("m"), "IN", 4);
        request.id("r1");
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.modelName()).isEqualTo("m");
            assertThat(response.modelVersion()).isEqualTo("1");
            assertThat(response.id()).isEqualTo("r1");
            OutputTensor output = response.outputs().getFirst();
            assertThat(output.inSharedMemory()).isFalse();
            assertThat(output.tensor().spec().name()).isEqualTo("OUT");
            assertThat(output.tensor().spec().shape()).isEqualTo(Shape.of(4));
            assertThat(output.tensor().bytes().toArray(ValueLayout.JAVA_FLOAT)).containsExactly(0, 1, 2, 3);
            assertThat(test.pool.usedBytes()).isPositive();
        }
        assertThat(test.pool.usedBytes()).isZero();
    }

    @Test
    void shouldAnswerWithTheInputsOwnMemoryWhereNothingMustMove() {
        test.model("m", ONE)
                .open(execution -> execution.outputFromInput(
                        0, 0, execution.input(0).spec().shape()));
        InferenceRequest request = test.input(test.request("m"), "IN", 4);
        long address = request.inputs().getFirst().bytes().address();
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().address()).isEqualTo(address);
        }
    }

    @Test
    void shouldWriteIntoTheClientsRegionAndSettleIt() {
        test.model("m", ONE).open(ScriptedBackend::copy);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(64));
            InferenceRequest request = test.input(test.request("m"), "IN", 4);
            request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
            request.hold(lease);
            try (InferenceResponse response = test.server().infer(request)) {
                assertThat(response.outputs().getFirst().inSharedMemory()).isTrue();
                assertThat(lease.segment().asSlice(0, 16).toArray(ValueLayout.JAVA_FLOAT))
                        .containsExactly(0, 1, 2, 3);
                assertThat(lease.settled).isEqualTo(1);
                assertThat(lease.closed).as("held until the response is sent").isZero();
            }
            assertThat(lease.closed).isEqualTo(1);
        }
    }

    @Test
    void shouldCopyAnInputThatLiesInARegionRatherThanShowIt() {
        test.model("m", ONE)
                .open(execution -> execution.outputFromInput(
                        0, 0, execution.input(0).spec().shape()));
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(16));
            InferenceRequest request = test.request("m");
            request.hold(lease);
            request.addInput(new gatun.memory.tensor.Tensor(
                    new gatun.memory.tensor.TensorSpec("IN", Datatype.FP32, Shape.of(4)), lease.segment()));
            try (InferenceResponse response = test.server().infer(request)) {
                MemorySegment answered = response.outputs().getFirst().tensor().bytes();
                assertThat(answered.address()).isNotEqualTo(lease.segment().address());
                assertThat(lease.closed).isEqualTo(1);
            }
        }
    }

    @Test
    void shouldRefuseARegionThatIsTooSmall() {
        test.model("m", ONE).open(ScriptedBackend::copy);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(15));
            InferenceRequest request = test.input(test.request("m"), "IN", 4);
            request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
            request.hold(lease);
            assertRefused(
                    request,
                    ErrorCode.INVALID_ARGUMENT,
                    "shared memory size specified with the request for output 'OUT' (15 bytes) should be at least 16"
                            + " bytes"
                            + " to hold the results");
            assertThat(lease.closed).isEqualTo(1);
            assertThat(test.server().statistics().getFirst().totals().failures().other())
                    .isEqualTo(1);
        }
    }

    @Test
    void shouldFailARequestWhoseRegionBroke() {
        test.model("m", ONE).open(ScriptedBackend::copy);
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(64));
            lease.broken = true;
            InferenceRequest request = test.input(test.request("m"), "IN", 4);
            request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
            request.hold(lease);
            assertRefused(request, ErrorCode.INVALID_ARGUMENT, "the region was taken away");
            assertThat(lease.closed).isEqualTo(1);
        }
        assertThat(test.server().statistics().getFirst().successCount()).isZero();
    }

    @Test
    void shouldBlameTheRegionWhenItsMemoryGoesAwayUnderTheEngine() {
        test.model("m", ONE).open(execution -> {
            throw new InternalError("a fault occurred in an unsafe memory access operation");
        });
        try (Arena arena = Arena.ofShared()) {
            FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocate(64));
            lease.broken = true;
            InferenceRequest request = test.input(test.request("m"), "IN", 4);
            request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
            request.hold(lease);
            assertRefused(request, ErrorCode.INVALID_ARGUMENT, "the region was taken away");
        }
    }

    @Test
    void shouldPassOnWhatTheEngineSaysAndGoOn() {
        test.model("m", ONE).open(execution -> {
            if (execution.input(0).spec().shape().dim(0) == 3) {
                execution.output(0, Datatype.FP32, Shape.of(3), 12);
                throw GatunException.invalidArgument("three is no good");
            }
            ScriptedBackend.copy(execution);
        });
        assertRefused(test.input(test.request("m"), "IN", 3), ErrorCode.INVALID_ARGUMENT, "three is no good");
        try (InferenceResponse response = test.server().infer(test.input(test.request("m"), "IN", 4))) {
            assertThat(response.outputs()).hasSize(1);
        }
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.totals().failures().backend()).isEqualTo(1);
        assertThat(statistics.successCount()).isEqualTo(1);
    }

    @Test
    void shouldSurviveAnEngineThatThrowsAnything() {
        test.model("m", ONE).open(execution -> {
            throw new AssertionError("broken");
        });
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> test.server().infer(test.input(test.request("m"), "IN", 3)))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessageNotContaining("AssertionError");
        }
    }

    @Test
    void shouldTellWhenTheBackendGivesNoOutput() {
        test.model("m", ONE).open(execution -> {});
        assertRefused(
                test.input(test.request("m"), "IN", 3),
                ErrorCode.INTERNAL,
                "the backend gave no output 'OUT' of model 'm'");
    }

    @Test
    void shouldRefuseWhatTheQueueCannotHold() throws Exception {
        Gate gate = new Gate();
        test.model("m", ONE + "instance_group [ { count: 1 } ]")
                .open(gate::pass, options -> options.models(ChangedSettings.queueLimit(1)));
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = clients.submit(() -> inferAndClose("m"));
            gate.awaitEntered(1);
            Future<?> waiting = clients.submit(() -> inferAndClose("m"));
            awaitPending(1);
            InferenceRequest third = test.input(test.request("m"), "IN", 1);
            third.id("x");
            assertRefused(third, ErrorCode.UNAVAILABLE, "[request id: x] Exceeds maximum queue size");
            gate.open();
            running.get(20, TimeUnit.SECONDS);
            waiting.get(20, TimeUnit.SECONDS);
        }
        assertThat(test.server().statistics().getFirst().totals().failures().rejected())
                .isEqualTo(1);
    }

    @Test
    void shouldGiveUpARequestThatWaitedTooLong() throws Exception {
        Gate gate = new Gate();
        test.model(
                        "m",
                        ONE + "dynamic_batching { default_queue_policy { allow_timeout_override: true"
                                + " default_timeout_microseconds: 60000000 } }")
                .open(gate::pass);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = clients.submit(() -> inferAndClose("m"));
            gate.awaitEntered(1);
            InferenceRequest late = test.input(test.request("m"), "IN", 1);
            late.timeoutMicros(2000);
            assertRefused(late, ErrorCode.UNAVAILABLE, "Request timeout expired");
            gate.open();
            running.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldNotGiveUpARequestWhereNothingIsSaidAboutQueues() throws Exception {
        Gate gate = new Gate();
        test.model("m", ONE).open(gate::pass);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = clients.submit(() -> inferAndClose("m"));
            gate.awaitEntered(1);
            Future<?> patient = clients.submit(() -> {
                InferenceRequest request = test.input(test.request("m"), "IN", 1);
                request.timeoutMicros(1);
                test.server().infer(request).close();
            });
            awaitPending(1);
            gate.open();
            running.get(20, TimeUnit.SECONDS);
            patient.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldTakeAnInterruptedRequestOutOfTheQueue() throws Exception {
        Gate gate = new Gate();
        test.model("m", ONE).open(gate::pass);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = clients.submit(() -> inferAndClose("m"));
            gate.awaitEntered(1);
            CountDownLatch ended = new CountDownLatch(1);
            Future<?> cancelled = clients.submit(() -> {
                try {
                    inferAndClose("m");
                } catch (GatunException e) {
                    if (e.code() == ErrorCode.CANCELLED
                            && Thread.currentThread().isInterrupted()) {
                        ended.countDown();
                    }
                }
            });
            awaitPending(1);
            cancelled.cancel(true);
            assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
            awaitPending(0);
            gate.open();
            running.get(20, TimeUnit.SECONDS);
        }
        assertThat(test.server().statistics().getFirst().totals().failures().canceled())
                .isEqualTo(1);
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(1);
    }

    @Test
    void shouldFinishWhatWasAcceptedOnClose() throws Exception {
        Gate gate = new Gate();
        test.model("m", ONE).open(gate::pass);
        ModelVersion model = test.server().model("m", "");
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = clients.submit(() -> inferAndClose("m"));
            gate.awaitEntered(1);
            Future<?> waiting = clients.submit(() -> inferAndClose("m"));
            awaitPending(1);
            Future<?> closing = clients.submit(() -> test.server().close());
            Await.until("the model to stop", () -> !model.ready());
            assertRefused(
                    test.input(new InferenceRequest(model), "IN", 1),
                    ErrorCode.UNAVAILABLE,
                    "Server is stopping, scheduler for model has stopped accepting new inference requests");
            gate.open();
            running.get(20, TimeUnit.SECONDS);
            waiting.get(20, TimeUnit.SECONDS);
            closing.get(20, TimeUnit.SECONDS);
        }
        assertThat(test.backend.open).hasValue(0);
        assertThat(test.backend.started).isFalse();
        assertThat(test.server().index().getFirst().state()).isEqualTo(ModelState.UNAVAILABLE);
        assertThat(test.server().index().getFirst().reason()).isEqualTo("unloaded");
        assertThatThrownBy(() -> test.server().ready()).hasMessage("Server exiting");
        assertThatThrownBy(() -> test.server().live()).hasMessage("Server exiting");
    }

    @Test
    void shouldLeaveAnEngineThatNeverReturnsToTheProcess() throws Exception {
        Gate gate = new Gate();
        test.model("m", ONE).open(gate::pass, options -> options.exitTimeout(Duration.ofMillis(1)));
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> running = clients.submit(() -> inferAndClose("m"));
            gate.awaitEntered(1);
            test.server().close();
            assertThat(test.backend.open).as("still in use").hasValue(2);
            gate.open();
            running.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldAnswerManyRequestsAtOnceEachWithItsOwnData() throws Exception {
        test.model("m", ONE + "instance_group [ { count: 3 } ]").open(ScriptedBackend::copy);
        List<Future<Long>> results = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 0; client < 32; client++) {
                int size = client + 1;
                results.add(clients.submit(() -> {
                    long right = 0;
                    for (int i = 0; i < 200; i++) {
                        InferenceRequest request = test.input(test.request("m"), "IN", size);
                        try (InferenceResponse response = test.server().infer(request)) {
                            MemorySegment bytes =
                                    response.outputs().getFirst().tensor().bytes();
                            right += bytes.byteSize() == size * 4L
                                            && bytes.getAtIndex(ValueLayout.JAVA_FLOAT, size - 1) == size - 1
                                    ? 1
                                    : 0;
                        }
                    }
                    return right;
                }));
            }
        }
        for (Future<Long> result : results) {
            assertThat(result.get(1, TimeUnit.SECONDS)).isEqualTo(200);
        }
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(32 * 200);
        assertThat(test.server().statistics().getFirst().totals().pendingRequestCount())
                .isZero();
    }

    private void inferAndClose(String model) {
        test.server().infer(test.input(test.request(model), "IN", 1)).close();
    }

    private void assertRefused(InferenceRequest request, ErrorCode code, String text) {
        assertThatThrownBy(() -> test.server().infer(request).close())
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(text);
    }

    /** Waits until the model's queue has that length. */
    private void awaitPending(long count) {
        Await.until(
                "%d pending".formatted(count),
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() == count);
    }

    /** Lets runs begin but not end before it is opened. */
    private static final class Gate {
        private final CountDownLatch opened = new CountDownLatch(1);
        private final CountDownLatch entered = new CountDownLatch(1);

        void pass(gatun.spi.Execution execution) {
            entered.countDown();
            try {
                assertThat(opened.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            ScriptedBackend.copy(execution);
        }

        void awaitEntered(int count) throws InterruptedException {
            assertThat(entered.await(20, TimeUnit.SECONDS)).as("%d runs", count).isTrue();
        }

        void open() {
            opened.countDown();
        }
    }
}
