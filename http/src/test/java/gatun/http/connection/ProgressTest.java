// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long a client counts as waited for, on a clock that the test moves. */
class ProgressTest {
    private long nanos = 1;

    private Progress progress(long bodyByteRate) {
        return new Progress(bodyByteRate, () -> nanos);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    private static void assertWaiting(Progress progress, Duration expected) {
        // The lowest bit of a reading is not kept.
        assertThat(progress.waiting()).isBetween(expected.minusNanos(2), expected.plusNanos(2));
    }

    /** A body has begun, and is waited for. */
    private Progress amidBody(long bodyByteRate) {
        Progress progress = progress(bodyByteRate);
        progress.works();
        progress.beginsBody();
        progress.waitsForRequest();
        return progress;
    }

    @Test
    void shouldNotWaitWhileTheServerIsAtWork() {
        Progress progress = progress(0);
        pass(Duration.ofSeconds(3));
        assertWaiting(progress, Duration.ofSeconds(3));
        progress.works();
        pass(Duration.ofSeconds(3));
        assertThat(progress.waiting()).isZero();
    }

    @Test
    void shouldGiveAHeadAsMuchTimeInAllAsSilence() {
        Progress progress = progress(1);
        progress.waitsForRequest();
        progress.took(1000);
        pass(Duration.ofSeconds(2));
        progress.waitsForRequest();
        progress.took(1000);
        assertWaiting(progress, Duration.ofSeconds(2));
    }

    @Test
    void shouldLetEachByteOfABodyMakeUpForTheTimeThatTheRateGivesIt() {
        Progress progress = amidBody(100);
        pass(Duration.ofSeconds(10));
        progress.took(100);
        assertWaiting(progress, Duration.ofSeconds(9));
        progress.waitsForRequest();
        pass(Duration.ofSeconds(1));
        progress.took(50);
        assertWaiting(progress, Duration.ofMillis(9500));
    }

    @Test
    void shouldNotLetAFastBeginningPayForASlowRest() {
        Progress progress = amidBody(100);
        pass(Duration.ofSeconds(1));
        progress.took(Long.MAX_VALUE);
        assertWaiting(progress, Duration.ZERO);
        pass(Duration.ofSeconds(5));
        progress.took(1);
        assertWaiting(progress, Duration.ofMillis(4990));
    }

    @Test
    void shouldLetAnyByteMakeUpForAllWhereThereIsNoRate() {
        Progress progress = amidBody(0);
        pass(Duration.ofHours(1));
        progress.took(1);
        assertWaiting(progress, Duration.ZERO);
    }

    @Test
    void shouldForgetABodyAtItsEnd() {
        Progress progress = amidBody(1);
        pass(Duration.ofSeconds(9));
        progress.took(1);
        progress.works();
        progress.waitsForRequest();
        assertWaiting(progress, Duration.ZERO);
    }
}
