// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.util.concurrent.atomic.AtomicLong;

/** Counts live native tensors, to show leaks. One for each owner's thread; summed up for any. */
final class LiveTensors {
    private static final AtomicLong COUNT = new AtomicLong();

    private long own;
    private long told;

    void made(int count) {
        own += count;
    }

    void freed(int count) {
        own -= count;
    }

    /** Publishes the count. For moments between runs, since most runs leave as many tensors as there were. */
    void tell() {
        if (own != told) {
            COUNT.addAndGet(own - told);
            told = own;
        }
    }

    /** Tensors of all owners that were made or returned by a run, and not freed; without those of runs under way. */
    static long count() {
        return COUNT.get();
    }
}
