// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.ThreadCore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HandOverTest {
    private final HandOver handOver = new HandOver();

    @Test
    void shouldLookNoMoreOftenThanItHelps() {
        AtomicInteger looks = new AtomicInteger();

        HandOver.await(number -> number == 7 && looks.incrementAndGet() > 0, 7);

        assertThat(looks).hasValue(3);
    }

    @Test
    void shouldEndWithTheAnswer() {
        AtomicInteger looks = new AtomicInteger();

        HandOver.await(number -> looks.incrementAndGet() < 2, 0);

        assertThat(looks).hasValue(2);
    }

    @Test
    void shouldSleepFirstAndThenNameTheCoreOfTheThread() {
        assertThat(sleepsInARow(50)).isEqualTo(16);
        assertThat(ThreadCore.allowed().get(handOver.core())).isTrue();
    }

    @Test
    void shouldGoOnWhereItHelps() {
        assertThat(waits(16 + 4_096 + 16 + 4_096, i -> isHandedOver() ? 9 : 50)).isEqualTo(2 * 4_096);
    }

    @Test
    void shouldSleepForLongerEachTimeWhereThatTakesLess() {
        assertThat(IntStream.range(0, 10).map(i -> {
                    int slept = sleepsInARow(9);
                    assertThat(waits(12, n -> 60)).isEqualTo(12);
                    return slept;
                }))
                .containsExactly(16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096);
    }

    @Test
    void shouldNotBeMisledByOneThatTookLong() {
        assertThat(waits(16 + 4_096, i -> isHandedOver() ? i % 100 == 0 ? 4_000 : 9 : 50))
                .isEqualTo(4_096);
    }

    @Test
    void shouldNotStayWithWhatIsWorseBecauseSleepsWereLongOnce() {
        waits(16, i -> 1_000);

        assertThat(waits(100_000, i -> isHandedOver() ? 15 : 9)).isLessThan(2 * 4_096);
    }

    @Test
    void shouldLearnWhenItHelpsNoMoreAndWhenItDoesAgain() {
        waits(1_000, i -> isHandedOver() ? 9 : 50);

        // Now others want the core: sleeps are longer than they were before, too.
        int whileBusy = waits(10_000, i -> isHandedOver() ? 200 : 60);
        waits(5_000, i -> isHandedOver() ? 9 : 50);

        assertThat(whileBusy).isLessThan(300);
        assertThat(waits(1_000, i -> isHandedOver() ? 9 : 50)).isGreaterThan(980);
    }

    private boolean isHandedOver() {
        return handOver.core() >= 0;
    }

    /** Waits so often; returns how often the core was handed over. */
    private int waits(int count, IntToLongFunction micros) {
        int handedOver = 0;
        for (int i = 0; i < count; i++) {
            handedOver += isHandedOver() ? 1 : 0;
            handOver.noteWait(micros.applyAsLong(i) * 1_000);
        }
        return handedOver;
    }

    /** Sleeps until the core is to be handed over; returns how often. */
    private int sleepsInARow(int micros) {
        int sleeps = 0;
        while (!isHandedOver()) {
            handOver.noteWait(micros * 1_000L);
            sleeps++;
        }
        return sleeps;
    }
}
