// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.DataSet.Step;
import java.util.concurrent.atomic.AtomicLong;

/** A worker's place in the data. A failure begins another sequence. Not thread-safe. */
final class StepCursor {
    private final DataSet data;
    private final AtomicLong sequences;
    private int index;
    private boolean first = true;
    private boolean answered = true;
    private long sequence;

    /** {@code sequences} numbers the sequences of all workers. */
    StepCursor(DataSet data, int worker, AtomicLong sequences) {
        this.data = data;
        this.sequences = sequences;
        index = data.first(worker);
    }

    int next() {
        if (first) {
            first = false;
        } else {
            do {
                index = data.next(index);
            } while (!answered && !data.step(index).start());
        }
        answered = false;
        if (data.step(index).start()) {
            sequence = sequences.incrementAndGet();
        }
        return index;
    }

    Step step() {
        return data.step(index);
    }

    long sequence() {
        return sequence;
    }

    void answered() {
        answered = true;
    }
}
