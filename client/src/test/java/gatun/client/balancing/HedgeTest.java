// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.InferResponse;
import gatun.client.UnreachableException;
import gatun.memory.tensor.Hold;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which of two calls' outcomes is taken, and what becomes of the other. */
@Timeout(30)
class HedgeTest {
    private final AtomicInteger closed = new AtomicInteger();
    private final Hedge hedge = new Hedge();

    @Test
    void shouldTakeTheFirstResponseAndGiveTheOtherCallUp() {
        CountDownLatch interrupted = new CountDownLatch(1);
        hedge.start(() -> hang(interrupted));
        assertThat(hedge.hasEndedWithin(Duration.ofMillis(1))).isFalse();
        hedge.start(() -> response("second"));
        assertThat(hedge.await().model()).isEqualTo("second");
        assertThat(interrupted.getCount()).isZero();
        assertThat(closed).hasValue(0);
    }

    @Test
    void shouldCloseAResponseThatComesSecond() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch closes = new CountDownLatch(2);
        hedge.start(() -> response("first", closes::countDown));
        hedge.start(() -> {
            second.countDown();
            return response("second", closes::countDown);
        });
        second.await();
        hedge.await().close();
        assertThat(closes.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldWaitForTheOtherWhereOneFailsAndElseTellTheFirstFailure() {
        hedge.start(() -> {
            throw new UnreachableException("the first");
        });
        assertThat(hedge.hasEndedWithin(Duration.ofSeconds(20))).isTrue();
        hedge.start(() -> response("second"));
        assertThat(hedge.await().model()).isEqualTo("second");

        Hedge failing = new Hedge();
        failing.start(() -> {
            throw new UnreachableException("one of two");
        });
        assertThat(failing.hasEndedWithin(Duration.ofSeconds(20))).isTrue();
        failing.start(() -> {
            throw new UnreachableException("the other");
        });
        assertThatThrownBy(failing::await)
                .isInstanceOf(UnreachableException.class)
                .hasMessage("one of two");
    }

    private InferResponse response(String model) {
        return response(model, closed::incrementAndGet);
    }

    private static InferResponse response(String model, Hold close) {
        return new InferResponse(model, "1", "", List.of(), List.of(), Map.of(), close);
    }

    private static InferResponse hang(CountDownLatch interrupted) {
        try {
            new CountDownLatch(1).await();
            throw new AssertionError("never");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            interrupted.countDown();
            throw new UnreachableException("given up", e);
        }
    }
}
