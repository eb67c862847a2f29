// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.calls.CallServices.DeadlineTimer;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.FrameWriter;
import gatun.listener.IoBuffers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConnectionWatchTest {
    private static final int WATCHES = 20_000;

    /** After so long without a frame a client is asked whether it is there: when a watch looks again. */
    private static final Duration SILENCE = Duration.ofSeconds(1);

    private static final KeepaliveSettings SETTINGS = new KeepaliveSettings(
            new KeepaliveSettings.Pings(SILENCE, Duration.ofSeconds(20), 2),
            new KeepaliveSettings.ClientPings(Duration.ofMinutes(5), 2),
            false,
            new KeepaliveSettings.Age(Optional.empty(), Optional.empty()),
            Duration.ofSeconds(20));

    private final DeadlineTimer timer = new DeadlineTimer();
    private final ConnectionWindowTest.Client transport = new ConnectionWindowTest.Client();
    private final FrameWriter writer = new FrameWriter(
            transport,
            new ConnectionBuffers(new IoBuffers()),
            Duration.ofMinutes(1),
            Thread.ofVirtual().factory(),
            failure -> {});
    private final ConnectionEnd end = new ConnectionEnd(transport, writer, timer, () -> true, () -> 0);
    private final AtomicInteger looks = new AtomicInteger();

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    /**
     * The first look sometimes planned the next one before the reading thread had noted the first: nobody could call off
     * the next, and the timer kept the connection until then, two hours with the default settings.
     */
    @Test
    void shouldLeaveNoLookWithTheTimerOnceItIsClosed() throws Exception {
        for (int i = 0; i < WATCHES; i++) {
            ConnectionWatch watch =
                    new ConnectionWatch(SETTINGS, timer, transport, writer, end, () -> false, this::lastRead);
            watch.begin();
            watch.greeted();
            if (i % 100 == 0) {
                // The timer's thread sleeps when the next watch wakes it.
                awaitTimer(Duration.ZERO);
            }
            watch.close();
        }
        awaitTimer(Duration.ZERO);
        looks.set(0);

        awaitTimer(SILENCE.multipliedBy(2));

        assertThat(looks).hasValue(0);
    }

    private long lastRead() {
        looks.incrementAndGet();
        return System.nanoTime();
    }

    /** Returns when the timer has done what is due in {@code time}. */
    private void awaitTimer(Duration time) throws InterruptedException {
        CountDownLatch reached = new CountDownLatch(1);
        timer.runAfter(time, reached::countDown);
        reached.await();
    }
}
