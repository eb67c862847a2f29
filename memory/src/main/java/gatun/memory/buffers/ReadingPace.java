// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The pace at which a client reads a response that lies in memory which others may need. A client that takes less than
 * 64 KiB a second is behind; one that is behind by {@link #PATIENCE} reads too slowly, which costs it its response
 * while memory is short. Written by one thread at a time, read by any; allocates nothing.
 */
public final class ReadingPace {
    /** How far a client may be behind before others come first. */
    public static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Bytes per second that a client has to take, or to send, at least while memory is short. */
    static final long LEAST_RATE = 64 << 10;

    private static final long NOTHING = 0;

    private final LongSupplier nanoClock;

    private volatile long since = NOTHING;
    private volatile long taken;

    /** Nothing to read yet; timed by {@link System#nanoTime}. */
    public ReadingPace() {
        this(System::nanoTime);
    }

    /** The same, timed by {@code nanoClock}. */
    ReadingPace(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** There is something to read from now on; without effect where there was already. */
    public void begin() {
        if (since == NOTHING) {
            taken = 0;
            // The lowest bit keeps it from being NOTHING by chance.
            since = nanoClock.getAsLong() | 1;
        }
    }

    /** The client has taken {@code byteCount} bytes more, or the system has for it. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes at a time
    public void addTaken(long byteCount) {
        taken += byteCount;
    }

    /** All is read. */
    public void end() {
        since = NOTHING;
    }

    /** Whether the client reads too slowly for others that find no memory. */
    public boolean isTooSlow() {
        long began = since;
        if (began == NOTHING) {
            return false;
        }
        long due = (long) ((double) taken * TimeUnit.SECONDS.toNanos(1) / LEAST_RATE);
        return nanoClock.getAsLong() - began - due > PATIENCE.toNanos();
    }
}
