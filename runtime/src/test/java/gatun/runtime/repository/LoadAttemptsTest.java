// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LoadAttemptsTest {
    private static final ModelIdentifier MODEL = ModelIdentifier.of("m");
    private static final Duration NONE = Duration.ZERO;

    private final List<String> unwanted = new CopyOnWriteArrayList<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch returns = new CountDownLatch(1);

    private String run(LoadAttempts attempts, ModelIdentifier model, Function<BooleanSupplier, String> load) {
        return attempts.run(model, 1, System.nanoTime(), load, unwanted::add);
    }

    private FutureTask<String> start(LoadAttempts attempts, Function<BooleanSupplier, String> load) {
        FutureTask<String> task = new FutureTask<>(() -> run(attempts, MODEL, load));
        Thread.ofPlatform().start(task);
        Await.opened(begun);
        return task;
    }

    /** A load that ends when its thread is interrupted. */
    private String waitForInterruption(BooleanSupplier wanted) {
        begun.countDown();
        try {
            new CountDownLatch(1).await();
            return "never";
        } catch (InterruptedException e) {
            assertThat(wanted.getAsBoolean()).isFalse();
            throw new GatunException(ErrorCode.CANCELLED, "interrupted", e);
        }
    }

    /** A load that knows nothing of interruptions. */
    private String hang(BooleanSupplier wanted) {
        begun.countDown();
        boolean waits = true;
        while (waits) {
            try {
                returns.await();
                waits = false;
            } catch (InterruptedException e) {
                waits = true;
            }
        }
        return "late";
    }

    @Test
    void shouldGiveWhatALoadMakesAndThrowWhatItThrows() {
        LoadAttempts attempts = new LoadAttempts(Duration.ofMinutes(1));
        assertThat(run(attempts, MODEL, wanted -> wanted.getAsBoolean() ? "made" : "unwanted"))
                .isEqualTo("made");
        assertThatThrownBy(() -> run(attempts, MODEL, wanted -> {
                    throw GatunException.invalidArgument("broken");
                }))
                .hasMessage("broken");
        assertThat(unwanted).isEmpty();
    }

    @Test
    void shouldEndALoadByAnUnloadAndRefuseOthersUntilThat() {
        LoadAttempts attempts = new LoadAttempts(NONE);
        FutureTask<String> load = start(attempts, this::waitForInterruption);
        LoadAttempts.Ending first = attempts.end(MODEL);
        LoadAttempts.Ending second = attempts.end(MODEL);
        assertThatThrownBy(load::get)
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("because the model was unloaded meanwhile");
        assertThatThrownBy(() -> run(attempts, MODEL, wanted -> "made")).isInstanceOf(LoadEndedException.class);
        assertThat(run(attempts, ModelIdentifier.of("other"), wanted -> "other"))
                .isEqualTo("other");
        first.close();
        assertThatThrownBy(() -> run(attempts, MODEL, wanted -> "made")).isInstanceOf(LoadEndedException.class);
        second.close();
        second.close();
        assertThat(run(attempts, MODEL, wanted -> "made")).isEqualTo("made");
        assertThat(attempts.anyAbandoned()).isFalse();
    }

    @Test
    void shouldEndALoadAtItsTimeLimit() {
        LoadAttempts attempts = new LoadAttempts(Duration.ofSeconds(1));
        assertThatThrownBy(() -> run(attempts, MODEL, this::waitForInterruption))
                .isInstanceOf(LoadEndedException.class)
                .hasMessage(
                        "the load was ended after 1 s, because it took longer than model-load-timeout-secs=1 allows");
    }

    @Test
    void shouldEndLoadsWithTheServer() {
        LoadAttempts attempts = new LoadAttempts(NONE);
        FutureTask<String> load = start(attempts, this::waitForInterruption);
        attempts.close();
        assertThatThrownBy(load::get).hasMessageContaining("because the server stops");
        assertThatThrownBy(() -> run(attempts, MODEL, wanted -> "made")).hasMessage("Server exiting");
    }

    @Test
    void shouldAbandonALoadThatDoesNotEnd() {
        LoadAttempts attempts = new LoadAttempts(NONE);
        FutureTask<String> load = start(attempts, this::hang);
        attempts.end(MODEL).close();
        assertThatThrownBy(load::get).hasMessageContaining("the load is abandoned and goes on inside the server");
        assertThat(attempts.anyAbandoned()).isTrue();
        assertThat(attempts.abandonment(MODEL, "1").orElseThrow())
                .contains("because the model was unloaded meanwhile", "the load is abandoned");
        assertThat(attempts.abandonment(MODEL, "2")).isEmpty();
        assertThatThrownBy(() -> run(attempts, MODEL, wanted -> "made"))
                .isInstanceOf(LoadEndedException.class)
                .hasMessageContaining("an earlier load of version 1, which was abandoned");

        returns.countDown();
        Await.until("it has returned", () -> !attempts.anyAbandoned());
        assertThat(unwanted).containsExactly("late");
        assertThat(run(attempts, MODEL, wanted -> "made")).isEqualTo("made");
    }
}
