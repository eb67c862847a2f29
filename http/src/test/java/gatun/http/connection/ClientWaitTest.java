// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.connection.ClientPresence.ClientWait;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long a client counts as waited for, on a clock that the test moves. */
class ClientWaitTest {
    private long nanos = 1;

    private ClientWait clientWait(long bodyByteRate) {
        return new ClientWait(bodyByteRate, () -> nanos);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    private static void assertWaiting(ClientWait clientWait, Duration expected) {
        // The lowest bit of a reading is not kept.
        assertThat(clientWait.waiting()).isBetween(expected.minusNanos(2), expected.plusNanos(2));
    }

    /** A body has begun, and is waited for. */
    private ClientWait amidBody(long bodyByteRate) {
        ClientWait clientWait = clientWait(bodyByteRate);
        clientWait.stopWaiting();
        clientWait.beginBody();
        clientWait.startWaitingForRequest();
        return clientWait;
    }

    @Test
    void shouldNotWaitWhileTheServerIsAtWork() {
        ClientWait clientWait = clientWait(0);
        pass(Duration.ofSeconds(3));
        assertWaiting(clientWait, Duration.ofSeconds(3));
        clientWait.stopWaiting();
        pass(Duration.ofSeconds(3));
        assertThat(clientWait.waiting()).isZero();
    }

    @Test
    void shouldGiveAHeadAsMuchTimeInAllAsSilence() {
        ClientWait clientWait = clientWait(1);
        clientWait.startWaitingForRequest();
        clientWait.addReceived(1000);
        pass(Duration.ofSeconds(2));
        clientWait.startWaitingForRequest();
        clientWait.addReceived(1000);
        assertWaiting(clientWait, Duration.ofSeconds(2));
    }

    @Test
    void shouldLetEachByteOfABodyMakeUpForTheTimeThatTheRateGivesIt() {
        ClientWait clientWait = amidBody(100);
        pass(Duration.ofSeconds(10));
        clientWait.addReceived(100);
        assertWaiting(clientWait, Duration.ofSeconds(9));
        clientWait.startWaitingForRequest();
        pass(Duration.ofSeconds(1));
        clientWait.addReceived(50);
        assertWaiting(clientWait, Duration.ofMillis(9500));
    }

    @Test
    void shouldNotLetAFastBeginningPayForASlowRest() {
        ClientWait clientWait = amidBody(100);
        pass(Duration.ofSeconds(1));
        clientWait.addReceived(Long.MAX_VALUE);
        assertWaiting(clientWait, Duration.ZERO);
        pass(Duration.ofSeconds(5));
        clientWait.addReceived(1);
        assertWaiting(clientWait, Duration.ofMillis(4990));
    }

    @Test
    void shouldLetAnyByteMakeUpForAllWhereThereIsNoRate() {
        ClientWait clientWait = amidBody(0);
        pass(Duration.ofHours(1));
        clientWait.addReceived(1);
        assertWaiting(clientWait, Duration.ZERO);
    }

    @Test
    void shouldForgetABodyAtItsEnd() {
        ClientWait clientWait = amidBody(1);
        pass(Duration.ofSeconds(9));
        clientWait.addReceived(1);
        clientWait.stopWaiting();
        clientWait.startWaitingForRequest();
        assertWaiting(clientWait, Duration.ZERO);
    }
}
