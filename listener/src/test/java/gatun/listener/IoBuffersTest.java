// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class IoBuffersTest {
    private static final int KEPT = 2;
    private static final int BYTE_SIZE = 1024;

    private final IoBuffers buffers =
            new IoBuffers(BYTE_SIZE, KEPT, Duration.ofMillis(1).toNanos(), 1);

    @Test
    void shouldPassOnTheBufferThatWasGivenBackLast() {
        ByteBuffer first = buffers.take();
        ByteBuffer second = buffers.take();
        buffers.give(first);
        buffers.give(second.limit(3));
        assertThat(buffers.take()).isSameAs(second);
        assertThat(second.remaining()).isEqualTo(BYTE_SIZE);
        assertThat(buffers.take()).isSameAs(first);
        assertThat(buffers.count()).isEqualTo(2);
    }

    @Test
    void shouldFreeBuffersThatNobodyNeedsAnyMore() {
        List<ByteBuffer> taken = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            taken.add(buffers.take());
        }
        taken.forEach(buffers::give);
        Await.until("buffers to be freed by a thread that tells nobody", () -> buffers.count() <= KEPT);
        ByteBuffer again = buffers.take();
        assertThat(again.put(0, (byte) 1).get(0)).as("one of those kept").isEqualTo((byte) 1);
        assertThat(buffers.count()).isEqualTo(KEPT);
    }

    @Test
    void shouldFreeNoBufferThatIsInUse() {
        ByteBuffer used = buffers.take();
        List<ByteBuffer> taken = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            taken.add(buffers.take());
        }
        taken.forEach(buffers::give);
        Await.until("buffers to be freed", () -> buffers.count() <= KEPT + 1);
        assertThat(used.put(0, (byte) 1).get(0)).isEqualTo((byte) 1);
    }
}
