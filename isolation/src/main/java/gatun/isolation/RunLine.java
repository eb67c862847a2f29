// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.spi.Tuning;
import gatun.workers.SharedMemoryChannel;
import gatun.workers.SharedMemoryChannels;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The way to one instance in a process; one run at a time. Unmapped when closed and unused. Thread-safe. */
final class RunLine implements AutoCloseable {
    private final int number;
    private final SharedMemoryChannel mailbox;
    private final AtomicInteger users = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();

    private RunLine(int number, SharedMemoryChannel mailbox) {
        this.number = number;
        this.mailbox = mailbox;
    }

    static RunLine create(int number, SharedMemoryChannels mailboxes, long spinNanos, Tuning tuning) {
        return new RunLine(number, mailboxes.mailbox(number, spinNanos, tuning));
    }

    int number() {
        return number;
    }

    /** The mailbox; only while a {@linkplain #tryUse use} lasts. */
    SharedMemoryChannel mailbox() {
        return mailbox;
    }

    /** Keeps the memory mapped until {@link #leave}; false when it is gone already. */
    boolean tryUse() {
        return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) != 0;
    }

    void leave() {
        if (users.decrementAndGet() == 0) {
            mailbox.close();
        }
    }

    /** Says that the run under way is wanted no more, or takes that back for the next one. */
    void askToStop(boolean stop) {
        if (tryUse()) {
            mailbox.askToStop(stop);
            leave();
        }
    }

    /** Wakes the waiting sides, since the process has ended. */
    void end() {
        if (tryUse()) {
            mailbox.end();
            leave();
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            end();
            leave();
        }
    }
}
