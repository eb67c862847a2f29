// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.concurrent.atomic.AtomicInteger;

/** The runs that are under way on the processor, of all models. Thread-safe. */
final class ActiveRuns {
    private final AtomicInteger count = new AtomicInteger();

    /** A run begins; whether it is the only one. */
    boolean begin() {
        return count.getAndIncrement() == 0;
    }

    /** A run ends; whether it is the last one. */
    boolean end() {
        return count.decrementAndGet() == 0;
    }
}
