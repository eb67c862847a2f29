// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TlsHandshakesTest {
    private static final Duration SHORT = Duration.ofMillis(20);

    @Test
    void shouldEndAHandshakeThatIsNotDoneInTime() throws Exception {
        CountDownLatch late = new CountDownLatch(1);
        try (TlsHandshakes.Handshake handshake = new TlsHandshakes(SHORT).begin(late::countDown)) {
            late.await();

            assertThatThrownBy(handshake::requireInTime).hasMessageContaining("it was not done within PT0.02S");
        }
    }

    @Test
    void shouldDoNoWorkForAHandshakeThatIsLate() throws Exception {
        AtomicBoolean worked = new AtomicBoolean();
        CountDownLatch late = new CountDownLatch(1);
        try (TlsHandshakes.Handshake handshake = new TlsHandshakes(SHORT).begin(late::countDown)) {
            late.await();

            assertThatThrownBy(() -> handshake.run(() -> worked.set(true))).isInstanceOf(IOException.class);
        }
        assertThat(worked).isFalse();
    }
}
