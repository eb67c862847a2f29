// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.time.Duration;

/** Tells whether the process is to stop. Safe for any thread. */
public interface StopWait {
    /** Never. */
    StopWait NEVER = new StopWait() {
        @Override
        public boolean isTold() {
            return false;
        }

        @Override
        public boolean await(Duration limit) throws InterruptedException {
            Thread.sleep(limit);
            return false;
        }

        @Override
        public void whenTold(Runnable action) {}
    };

    /** Whether the process was told to stop. */
    boolean isTold();

    /** Waits until the process is told to stop, which gives true, or {@code limit} is over. */
    boolean await(Duration limit) throws InterruptedException;

    /** Runs {@code action} when the process is told to stop, on any thread, and at once where it was. */
    void whenTold(Runnable action);
}
