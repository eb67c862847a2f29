// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How long a request waited and engines worked for it, over all models asked on its behalf: more than it took where
 * they worked side by side. Thread-safe; the times of one addition may be seen one after the other.
 */
public final class ComputeTimes {
    // Handles, not field updaters: these are compiled to the instruction wherever they are called.
    private static final VarHandle QUEUE = field("queueNanos", long.class);
    private static final VarHandle INPUT = field("inputNanos", long.class);
    private static final VarHandle INFER = field("inferNanos", long.class);
    private static final VarHandle OUTPUT = field("outputNanos", long.class);
    private static final VarHandle LARGEST_BATCH = field("largestBatch", int.class);

    private volatile long queueNanos;
    private volatile long inputNanos;
    private volatile long inferNanos;
    private volatile long outputNanos;
    private volatile int largestBatch;

    /** Of a request for which nobody has worked yet. */
    public ComputeTimes() {}

    private static VarHandle field(String name, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(ComputeTimes.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Makes these the times of another request, for which nobody has worked yet. To be called when nobody adds to them. */
    public void clear() {
        queueNanos = 0;
        inputNanos = 0;
        inferNanos = 0;
        outputNanos = 0;
        largestBatch = 0;
    }

    /** Adds the stages of a run; all in nanoseconds. */
    void add(long queue, long input, long infer, long output) {
        QUEUE.getAndAdd(this, queue);
        INPUT.getAndAdd(this, input);
        INFER.getAndAdd(this, infer);
        OUTPUT.getAndAdd(this, output);
    }

    /** Notes that a run for the request had {@code rows} items, those of other requests included. */
    void noteBatch(int rows) {
        int known = largestBatch;
        while (known < rows && !LARGEST_BATCH.compareAndSet(this, known, rows)) {
            known = largestBatch;
        }
    }

    /** The items of the largest run, those of other requests included; 0 where nobody has worked yet. */
    public int largestBatch() {
        return largestBatch;
    }

    /** Waiting for runs, in nanoseconds. */
    public long queueNanos() {
        return queueNanos;
    }

    /** Preparing inputs, in nanoseconds. */
    public long inputNanos() {
        return inputNanos;
    }

    /** In engines, in nanoseconds. */
    public long inferNanos() {
        return inferNanos;
    }

    /** Placing outputs, in nanoseconds. */
    public long outputNanos() {
        return outputNanos;
    }
}
