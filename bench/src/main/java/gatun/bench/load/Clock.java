// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The time, and waiting for it. Readings are those of {@link System#nanoTime}. */
public interface Clock {
    /** The machine's clock. */
    Clock SYSTEM = new Clock() {
        // A parked thread wakes up later than it asked for, by about this much.
        private static final long WAKE_UP_NANOS = 60_000;
        private static final long LONGEST_PARK_NANOS = 50_000_000;

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void waitUntil(long due, BooleanSupplier stopped) {
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                if (stopped.getAsBoolean()) {
                    return;
                }
                if (left > WAKE_UP_NANOS) {
                    LockSupport.parkNanos(Math.min(left - WAKE_UP_NANOS, LONGEST_PARK_NANOS));
                } else {
                    Thread.onSpinWait();
                }
            }
        }
    };

    /** The time now, in nanoseconds from an arbitrary origin. */
    long nanoTime();

    /** Returns at {@code due}, at once when it has passed, or soon after {@code stopped} says so. */
    void waitUntil(long due, BooleanSupplier stopped);
}
