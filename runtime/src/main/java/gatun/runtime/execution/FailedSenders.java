// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.ClientQuotaKey;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

/**
 * The senders whose requests lately failed a joined run, and run alone meanwhile: a client that sends what the model
 * cannot take would have every run of its neighbours done twice. Thread-safe.
 */
final class FailedSenders {
    /** How long a sender is remembered. */
    static final Duration MEMORY = Duration.ofSeconds(10);

    /**
     * Each connection of a local client is a new sender. Beyond this many, nobody's requests are joined for a while: a
     * request then costs one run, as without batching.
     */
    static final int LIMIT = 1024;

    private final LongSupplier clock;
    private final ConcurrentMap<ClientQuotaKey, Long> ends = new ConcurrentHashMap<>();
    private volatile boolean crowded;
    private volatile long crowdedEnd;

    /** @param clock tells nanoseconds, as {@link System#nanoTime} */
    FailedSenders(LongSupplier clock) {
        this.clock = clock;
    }

    /** Remembers a sender from now on. */
    void add(ClientQuotaKey sender) {
        long now = clock.getAsLong();
        long end = now + MEMORY.toNanos();
        if (ends.size() >= LIMIT && !ends.containsKey(sender)) {
            ends.values().removeIf(other -> other - now <= 0);
            if (ends.size() >= LIMIT) {
                crowdedEnd = end;
                crowded = true;
                return;
            }
        }
        ends.put(sender, end);
    }

    /** Whether the requests of a sender run alone now. */
    boolean has(ClientQuotaKey sender) {
        if (ends.isEmpty() && !crowded) {
            return false;
        }
        long now = clock.getAsLong();
        if (crowded) {
            if (crowdedEnd - now > 0) {
                return true;
            }
            crowded = false;
        }
        Long end = ends.get(sender);
        if (end == null || end - now > 0) {
            return end != null;
        }
        ends.remove(sender, end);
        return false;
    }
}
