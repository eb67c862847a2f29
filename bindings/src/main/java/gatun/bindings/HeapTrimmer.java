// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives memory that native libraries have freed back to the system, as {@link Posix#trimHeap} does, without its callers
 * waiting: many may ask at about the same time, as when a thousand models are closed, and one trim after the last of
 * them does for all. Its thread ends when nobody asks. Safe for any thread.
 */
public final class HeapTrimmer {
    /** The trimmer of this process, which has one heap. */
    public static final HeapTrimmer OF_PROCESS = new HeapTrimmer(Posix::trimHeap);

    private final Runnable trim;
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicBoolean running = new AtomicBoolean();

    HeapTrimmer(Runnable trim) {
        this.trim = trim;
    }

    /** Has the heap trimmed soon: at least once after this call. */
    public void ask() {
        asked.incrementAndGet();
        if (running.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("heap-trimmer").start(this::run);
        }
    }

    private void run() {
        int served = 0;
        do {
            try {
                for (int wanted = asked.get(); wanted != served; wanted = asked.get()) {
                    trim.run();
                    served = wanted;
                }
            } finally {
                running.set(false);
            }
        } while (asked.get() != served && running.compareAndSet(false, true));
    }
}
