// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.Sender;
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
        assertThat(senders.has(Sender.THIS_PROCESS)).isFalse();
    }

    @Test
    void shouldForgetASenderAfterItsTime() {
        Sender failed = new Sender("failed");
        senders.add(failed);
        assertThat(senders.has(new Sender("other"))).isFalse();
        pass(FailedSenders.MEMORY.toNanos() - 1);
        assertThat(senders.has(failed)).isTrue();
        pass(1);
        assertThat(senders.has(failed)).isFalse();
    }

    @Test
    void shouldRememberASenderFromItsLastFailureOn() {
        Sender failed = new Sender("failed");
        senders.add(failed);
        pass(FailedSenders.MEMORY.toNanos() - 1);
        senders.add(failed);
        pass(FailedSenders.MEMORY.toNanos() - 1);
        assertThat(senders.has(failed)).isTrue();
    }

    @Test
    void shouldHaveEverybodyWhileThereAreTooMany() {
        for (int i = 0; i < FailedSenders.LIMIT; i++) {
            senders.add(new Sender(i));
        }
        Sender other = new Sender("other");
        assertThat(senders.has(other)).isFalse();
        senders.add(new Sender("one more"));
        assertThat(senders.has(other)).isTrue();
        pass(FailedSenders.MEMORY.toNanos());
        assertThat(senders.has(other)).isFalse();
        assertThat(senders.has(new Sender(0))).isFalse();
    }

    @Test
    void shouldMakeRoomForNewSendersWhereOldOnesAreForgotten() {
        for (int i = 0; i < FailedSenders.LIMIT; i++) {
            senders.add(new Sender(i));
        }
        pass(FailedSenders.MEMORY.toNanos());
        Sender late = new Sender("late");
        senders.add(late);
        assertThat(senders.has(late)).isTrue();
        assertThat(senders.has(new Sender("other"))).isFalse();
    }
}
