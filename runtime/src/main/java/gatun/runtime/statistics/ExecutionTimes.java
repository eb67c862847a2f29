// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.Origin;

/** When the stages of one execution began, as readings of {@link System#nanoTime}; each is taken once. */
public interface ExecutionTimes {
    /** How many requests the execution answered. */
    int requestCount();

    /**
     * How many inferences the answered request {@code index} counts as: its batch size, or 1 when the model has no
     * batch dimension.
     */
    int inferences(int index);

    /** Where the answered request {@code index} came from. */
    Origin origin(int index);

    /** The answered request {@code index} reached the runtime. */
    long arrivedNanos(int index);

    /** The first response to the answered request {@code index} went out; 0 unless the model is decoupled. */
    long firstResponseNanos(int index);

    /** An instance took it. */
    long startedNanos();

    /** How long the answered request {@code index} waited, in nanoseconds. */
    default long queueNanos(int index) {
        return startedNanos() - arrivedNanos(index);
    }

    /** The engine began. */
    long inferStartedNanos();

    /** The engine was done. */
    long inferEndedNanos();

    /** The outputs were in place. */
    long endedNanos();
}
