// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import gatun.memory.buffers.ClientQuotaKey.SlowReaderDetector;
import gatun.memory.tensor.GatunException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SlowReaderDetectorTest {
    private final AtomicLong clock = new AtomicLong(1);
    private final SlowReaderDetector pace = new SlowReaderDetector(clock::get);

    private void pass(long seconds) {
        clock.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void shouldNotMindClientsWithNothingToRead() {
        pass(1000);

        assertThat(pace.isTooSlow()).isFalse();
    }

    @Test
    void shouldFindWhoReadsNothing() {
        pace.begin();
        pass(5);
        assertThat(pace.isTooSlow()).isFalse();
        pass(1);

        assertThat(pace.isTooSlow()).isTrue();
    }

    @Test
    void shouldFindWhoDrips() {
        pace.begin();
        for (int i = 0; i < 20; i++) {
            pass(1);
            pace.addTaken(1000);
        }

        assertThat(pace.isTooSlow()).isTrue();
    }

    @Test
    void shouldLetWhoTookMuchRest() {
        pace.begin();
        pace.addTaken(100 * SlowReaderDetector.LEAST_RATE);
        pass(100);

        assertThat(pace.isTooSlow()).isFalse();
    }

    @Test
    void shouldBeginAnewWithTheNextResponse() {
        pace.begin();
        pass(10);
        pace.end();
        assertThat(pace.isTooSlow()).isFalse();
        pace.begin();

        assertThat(pace.isTooSlow()).isFalse();
    }

    @Test
    void shouldCallThoseWhoHoldMemoryForClientsWhenThereIsNoRoom() {
        try (BufferPool pool = new BufferPool(1 << 20)) {
            AtomicLong calls = new AtomicLong();
            pool.onShortage(calls::incrementAndGet);
            Buffer all = pool.take(1 << 20);
            assertThat(calls).hasValue(0);

            assertThat(catchThrowable(() -> pool.take(1))).isInstanceOf(GatunException.class);

            assertThat(calls).hasValue(1);
            all.close();
        }
    }
}
