// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ClientException;
import gatun.client.Retries;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How often calls are made, and after which pauses. */
class AttemptsTest {
    private static final Retries FAST = new Retries(4, Duration.ZERO, Duration.ZERO);

    private static int attempts(Retries retries, Deadline deadline, boolean repeatable, ClientException failure) {
        AtomicInteger attempts = new AtomicInteger();
        assertThatThrownBy(() -> Attempts.make(retries, deadline, repeatable, () -> {
                    attempts.incrementAndGet();
                    throw failure;
                }))
                .isSameAs(failure);
        return attempts.get();
    }

    @Test
    void shouldTellWhatMayHaveRunAndIsNotRepeated() {
        ServerException after = new ServerException(StatusCode.INTERNAL, 500, "a step that may have been applied");
        assertThat(attempts(FAST, Deadline.NONE, false, after)).isEqualTo(1);
        assertThat(after.mayHaveRun()).isTrue();
        assertThat(new ServerException(StatusCode.UNAVAILABLE, 503, "busy").mayHaveRun())
                .isFalse();
        assertThat(new UnreachableException("broke").mayHaveRun()).isTrue();
        assertThat(new UnreachableException("refused", new IllegalStateException(), false).mayHaveRun())
                .isFalse();
        assertThat(Deadline.of(Duration.ofMillis(1))
                        .exceeded("a call", "a server")
                        .mayHaveRun())
                .isTrue();
    }

    @Test
    void shouldRepeatOnlyWhatIsSafe() {
        assertThat(attempts(FAST, Deadline.NONE, false, new ServerException(StatusCode.UNAVAILABLE, 503, "busy")))
                .isEqualTo(4);
        assertThat(attempts(FAST, Deadline.NONE, true, new ServerException(StatusCode.INTERNAL, 500, "broken")))
                .isEqualTo(1);
        assertThat(attempts(FAST, Deadline.NONE, true, new UnreachableException("broke")))
                .isEqualTo(4);
        assertThat(attempts(FAST, Deadline.NONE, false, new UnreachableException("broke")))
                .isEqualTo(1);
        assertThat(attempts(
                        FAST,
                        Deadline.NONE,
                        false,
                        new UnreachableException("refused", new IllegalStateException(), false)))
                .isEqualTo(4);
        assertThat(attempts(
                        FAST,
                        Deadline.NONE,
                        true,
                        Deadline.of(Duration.ofMillis(1)).exceeded("a call", "a server")))
                .isEqualTo(1);
        assertThat(attempts(Retries.NONE, Deadline.NONE, true, new UnreachableException("broke")))
                .isEqualTo(1);
    }

    @Test
    void shouldNotPauseBeyondTheDeadline() {
        Retries slow = new Retries(100, Duration.ofHours(1), Duration.ofHours(1));
        assertThat(attempts(slow, Deadline.of(Duration.ofMinutes(1)), true, new UnreachableException("broke")))
                .isEqualTo(1);
    }

    @Test
    void shouldDoublePausesUpToTheLongest() {
        Retries retries = new Retries(10, Duration.ofMillis(50), Duration.ofMillis(300));
        long[] pauses = new long[5];
        for (int attempt = 1; attempt <= pauses.length; attempt++) {
            pauses[attempt - 1] = Attempts.pauseNanos(retries, attempt, 0) / 1_000_000;
        }
        assertThat(pauses).containsExactly(50, 100, 200, 300, 300);
        assertThat(Attempts.pauseNanos(retries, 1, 1)).isEqualTo(25_000_000);
        assertThat(Attempts.pauseNanos(Retries.NONE, 1, 0.5)).isZero();
    }

    @Test
    void shouldGiveUpAPauseWhenInterrupted() {
        Retries slow = new Retries(2, Duration.ofHours(1), Duration.ofHours(1));
        Thread caller = Thread.currentThread();
        assertThatThrownBy(() -> Attempts.make(slow, Deadline.NONE, true, () -> {
                    Thread.ofVirtual().start(caller::interrupt);
                    throw new UnreachableException("broke");
                }))
                .isInstanceOf(UnreachableException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
