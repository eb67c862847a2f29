// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.ClientQuotaKey;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FailedSendersTest {
    /** Just before the clock begins anew, as that of a machine may be. */
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);

    private final FailedSenders senders = new FailedSenders(now::get);

    private void pass(long nanos) {
        now.addAndGet(nanos);
    }

    @Test
    void shouldHaveNobodyAtFirst() {
        assertThat(senders.has(ClientQuotaKey.THIS_PROCESS)).isFalse();
    }

    @Test
    void shouldForgetASenderAfterItsTime() {
        ClientQuotaKey failed = new ClientQuotaKey("failed");
        senders.add(failed);
        assertThat(senders.has(new ClientQuotaKey("other"))).isFalse();
        pass(FailedSenders.MEMORY.toNanos() - 1);
        assertThat(senders.has(failed)).isTrue();
        pass(1);
        assertThat(senders.has(failed)).isFalse();
    }

    @Test
    void shouldRememberASenderFromItsLastFailureOn() {
        ClientQuotaKey failed = new ClientQuotaKey("failed");
        senders.add(failed);
        pass(FailedSenders.MEMORY.toNanos() - 1);
        senders.add(failed);
        pass(FailedSenders.MEMORY.toNanos() - 1);
        assertThat(senders.has(failed)).isTrue();
    }

    @Test
    void shouldHaveEverybodyWhileThereAreTooMany() {
        for (int i = 0; i < FailedSenders.LIMIT; i++) {
            senders.add(new ClientQuotaKey(i));
        }
        ClientQuotaKey other = new ClientQuotaKey("other");
        assertThat(senders.has(other)).isFalse();
        senders.add(new ClientQuotaKey("one more"));
        assertThat(senders.has(other)).isTrue();
        pass(FailedSenders.MEMORY.toNanos());
        assertThat(senders.has(other)).isFalse();
        assertThat(senders.has(new ClientQuotaKey(0))).isFalse();
    }

    @Test
    void shouldMakeRoomForNewSendersWhereOldOnesAreForgotten() {
        for (int i = 0; i < FailedSenders.LIMIT; i++) {
            senders.add(new ClientQuotaKey(i));
        }
        pass(FailedSenders.MEMORY.toNanos());
        ClientQuotaKey late = new ClientQuotaKey("late");
        senders.add(late);
        assertThat(senders.has(late)).isTrue();
        assertThat(senders.has(new ClientQuotaKey("other"))).isFalse();
    }
}
