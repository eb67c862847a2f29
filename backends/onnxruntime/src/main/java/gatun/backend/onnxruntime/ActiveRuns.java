// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.concurrent.atomic.LongAdder;

/**
 * The runs that are under way on the processor, of all models; counted in as many words as there are cores that count at the
 * same time. Thread-safe; of two that begin at once neither may be told that it is the only one.
 */
final class ActiveRuns {
    private final LongAdder count = new LongAdder();

    /** A run begins; whether it is the only one. */
    boolean begin() {
        count.increment();
        return count.sum() == 1;
    }

    /** A run ends; whether it is the last one. */
    boolean end() {
        count.decrement();
        return count.sum() == 0;
    }
}
