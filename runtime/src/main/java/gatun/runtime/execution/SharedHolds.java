// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Hold;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Claims on memory that several requests share, released by the last of them. Thread-safe. */
public final class SharedHolds {
    private final List<? extends Hold> holds;
    private final AtomicInteger users = new AtomicInteger(1);

    /** Owns {@code holds}; its maker is the first user. */
    public SharedHolds(List<? extends Hold> holds) {
        this.holds = List.copyOf(holds);
    }

    /** One more user, who closes the claim exactly once; called by a user. */
    public Hold share() {
        users.incrementAndGet();
        return this::release;
    }

    /** One user less. */
    public void release() {
        if (users.decrementAndGet() == 0) {
            holds.forEach(Hold::close);
        }
    }
}
