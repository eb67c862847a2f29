// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.testing.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The failures that an ensemble reports, for each way in which a member can fail. */
@Timeout(60)
class EnsembleFailureTest extends EnsembleFixture {
    private static final String CHAIN =
            ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=T"), step("next", "A=T", "NEXT=OUT"));

    private static final String QUEUE_OF_ONE =
            "dynamic_batching { default_queue_policy { max_queue_size: 1 allow_timeout_override: true"
                    + " default_timeout_microseconds: 60000000 } }";

    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    private InferenceRequest request() {
        InferenceRequest request = test.input(test.request("e"), "IN", 1, 3);
        request.id("r7");
        return request;
    }

    private void assertFails(ErrorCode code, String message) {
        assertFails(request(), code, message);
    }

    private void assertFails(InferenceRequest request, ErrorCode code, String message) {
        assertThatThrownBy(() -> test.server().infer(request))
                .hasMessage(message)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private void openBatching(String memberSettings) {
        test.model("twice", model("TWICE", "max_batch_size: 1 " + memberSettings));
        test.model(
                        "e",
                        ensemble("IN", "OUT", step("twice", "A=IN", "TWICE=OUT"))
                                .replace("platform", "max_batch_size: 1 platform"))
                .open(this::compute);
    }

    /** Has a run of TWICE last until it is released. */
    private void holdTwice() {
        before.put("TWICE", () -> {
            running.countDown();
            Await.opened(release);
        });
    }

    private void awaitPending(String model, long count) {
        Await.until(
                "waits in time",
                () -> test.server().statistics(model, "").getFirst().totals().pendingRequestCount() >= count);
    }

    @Test
    void shouldNameItselfWhenAMemberWasUnloadedMeanwhile() {
        members();
        test.model("e", CHAIN.replace("dims: [ -1 ]", "dims: [ -1, -1 ]"));
        test.model("twice", model("TWICE", "").replace("[ -1 ]", "[ -1, -1 ]"));
        test.model("next", model("NEXT", "").replace("[ -1 ]", "[ -1, -1 ]"));
        test.open(this::compute, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("e")));
        before.put("TWICE", () -> test.server().unload("next", false));
        assertFails(
                ErrorCode.NOT_FOUND, "in ensemble 'e', Request for unknown model: 'next' has no available versions");
    }

    @Test
    void shouldNotInviteToRepeatAStepThatAMemberHasTaken() {
        members();
        test.model("e", CHAIN).open(this::compute);
        before.put("NEXT", () -> {
            throw new GatunException(ErrorCode.UNAVAILABLE, "the engine is busy");
        });
        assertFails(vector(), ErrorCode.UNAVAILABLE, "in ensemble 'e', the engine is busy");
        InferenceRequest step = vector();
        step.correlationId(7);
        assertFails(
                step,
                ErrorCode.INTERNAL,
                "in ensemble 'e', the engine is busy; this step of its sequence may have been applied, and to repeat it"
                        + " may apply it twice");
    }

    private InferenceRequest vector() {
        return test.input(test.request("e"), "IN", 3);
    }

    @Test
    void shouldNameItselfWhenTheQueueOfAMemberIsFull() throws Exception {
        openBatching(QUEUE_OF_ONE);
        holdTwice();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> runs = threads.submit(() -> test.server().infer(request()).close());
            Await.opened(running);
            Future<?> waits =
                    threads.submit(() -> test.server().infer(request()).close());
            awaitPending("twice", 1);
            assertFails(ErrorCode.UNAVAILABLE, "in ensemble 'e', [request id: r7] Exceeds maximum queue size");
            assertThat(test.server()
                            .statistics("e", "")
                            .getFirst()
                            .totals()
                            .failures()
                            .other())
                    .isEqualTo(2);
            release.countDown();
            runs.get(20, TimeUnit.SECONDS);
            waits.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldNameItselfWhenTheTimeInAMembersQueueIsOver() throws Exception {
        openBatching(QUEUE_OF_ONE);
        holdTwice();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> runs = threads.submit(() -> test.server().infer(request()).close());
            Await.opened(running);
            InferenceRequest late = request();
            late.timeoutMicros(1000);
            assertFails(late, ErrorCode.UNAVAILABLE, "in ensemble 'e', Request timeout expired");
            release.countDown();
            runs.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldNameItselfWhenAMemberRefusesWhatTheStepBeforeMade() {
        test.model("twice", model("TWICE", "max_batch_size: 1"));
        test.model("next", model("NEXT", "max_batch_size: 1").replaceFirst("dims: \\[ -1 ]", "dims: [ 2 ]"));
        test.model("e", CHAIN.replace("platform", "max_batch_size: 1 platform")).open(this::compute);
        assertFails(
                ErrorCode.INVALID_ARGUMENT,
                "in ensemble 'e', [request id: r7] unexpected shape for input 'A' for model 'next'. Expected [-1,2],"
                        + " got"
                        + " [1,3]. NOTE: Setting a non-zero max_batch_size in the model config requires a batch"
                        + " dimension"
                        + " to be prepended to each input shape. If you want to specify the full shape including the"
                        + " batch"
                        + " dim in your input dims config, try setting max_batch_size to zero. See the model"
                        + " configuration"
                        + " docs for more info on max_batch_size.");
    }

    @Test
    void shouldNameItselfWhenAMemberGivesTheRequestUp() {
        openBatching("");
        before.put("TWICE", () -> {
            throw new GatunException(ErrorCode.CANCELLED, "the engine was told to stop");
        });
        assertFails(ErrorCode.CANCELLED, "in ensemble 'e', the engine was told to stop");
        assertThat(test.server()
                        .statistics("e", "")
                        .getFirst()
                        .totals()
                        .failures()
                        .other())
                .isEqualTo(2);
    }

    @Test
    void shouldNameItselfWhenAMemberThrows() {
        openBatching("");
        before.put("TWICE", () -> {
            throw new IllegalStateException("nobody foresaw this");
        });
        assertFails(
                ErrorCode.INTERNAL, "in ensemble 'e', model 'twice' failed unexpectedly; the server's log says more");
        assertThat(test.server()
                        .statistics("e", "")
                        .getFirst()
                        .totals()
                        .failures()
                        .other())
                .isEqualTo(2);
    }
}
