// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long one request waited and engines worked for it, added up over all the models that were asked on its behalf: more than the
 * request took where they worked side by side. Safe for any thread; the times of one addition may be seen one
 * after the other.
 */
public final class ComputeTimes {
    private static final AtomicIntegerFieldUpdater<ComputeTimes> LARGEST_BATCH =
            AtomicIntegerFieldUpdater.newUpdater(ComputeTimes.class, "largestBatch");

    private final AtomicLong queueNanos = new AtomicLong();
    private final AtomicLong inputNanos = new AtomicLong();
    private final AtomicLong inferNanos = new AtomicLong();
    private final AtomicLong outputNanos = new AtomicLong();

    private volatile int largestBatch;

    /** Of a request for which nobody has worked yet. */
    public ComputeTimes() {}

    /**
     * Adds the stages of a run; all in nanoseconds.
     *
     * @param queue waiting for the run
     * @param input preparing inputs
     * @param infer in the engine
     * @param output placing outputs
     */
    void add(long queue, long input, long infer, long output) {
        queueNanos.addAndGet(queue);
        inputNanos.addAndGet(input);
        inferNanos.addAndGet(infer);
        outputNanos.addAndGet(output);
    }

    /** Notes that a run for the request had {@code rows} items, those of other requests included. */
    void noteBatch(int rows) {
        LARGEST_BATCH.accumulateAndGet(this, rows, Math::max);
    }

    /** The items of the largest run, those of other requests included; 0 where nobody has worked yet. */
    public int largestBatch() {
        return largestBatch;
    }

    /** Waiting for runs, in nanoseconds. */
    public long queueNanos() {
        return queueNanos.get();
    }

    /** Preparing inputs, in nanoseconds. */
    public long inputNanos() {
        return inputNanos.get();
    }

    /** In engines, in nanoseconds. */
    public long inferNanos() {
        return inferNanos.get();
    }

    /** Placing outputs, in nanoseconds. */
    public long outputNanos() {
        return outputNanos.get();
    }
}
