// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.ThreadCore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class YieldBeforeBlockTest {
    private final YieldBeforeBlock handOver = YieldBeforeBlock.alone();

    @Test
    void shouldLookNoMoreOftenThanItHelps() {
        AtomicInteger looks = new AtomicInteger();

        YieldBeforeBlock.await(number -> number == 7 && looks.incrementAndGet() > 0, 7);

        assertThat(looks).hasValue(3);
    }

    @Test
    void shouldEndWithTheAnswer() {
        AtomicInteger looks = new AtomicInteger();

        YieldBeforeBlock.await(number -> looks.incrementAndGet() < 2, 0);

        assertThat(looks).hasValue(2);
    }

    @Test
    void shouldNameTheCoreOfTheThreadWhereThatIsFaster() {
        assertThat(handOver.core()).isEqualTo(YieldBeforeBlock.NO_CORE);

        waits(1 + YieldBeforeBlock.TRIALS.runs(), i -> isHandedOver() ? 9 : 50);

        assertThat(ThreadCore.allowed().get(handOver.core())).isTrue();
    }

    @Test
    void shouldNotBeMisledByOneThatTookLong() {
        waits(1 + YieldBeforeBlock.TRIALS.runs(), i -> isHandedOver() ? i % 50 == 0 ? 4_000 : 9 : 50);

        assertThat(isHandedOver()).isTrue();
    }

    @Test
    void shouldLearnWhenItHelpsNoMoreAndWhenItDoesAgain() {
        waits(1_000, i -> isHandedOver() ? 9 : 50);

        // Now others want the core: sleeps are longer than they were before, too.
        int whileBusy = waits(10_000, i -> isHandedOver() ? 200 : 60);
        waits(20_000, i -> isHandedOver() ? 9 : 50);

        assertThat(whileBusy).isLessThan(500);
        assertThat(waits(1_000, i -> isHandedOver() ? 9 : 50)).isGreaterThan(900);
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
}
