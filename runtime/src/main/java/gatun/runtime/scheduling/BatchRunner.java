// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;
import java.util.Optional;

/**
 * Runs the batches of an instance, which its thread opens, closes, and mostly runs. Unless {@link #isBoundToThread}
 * other threads call it too, and may take that thread's place; never two at a time, each seeing the writes before.
 */
public interface BatchRunner<T extends PendingRequest> {
    /** The name of its thread. */
    String threadName();

    /** Makes ready; a failure keeps the scheduler from opening. */
    void open();

    /**
     * Prepares the first run, on the thread that opened it, right after that. A failure keeps the scheduler from
     * opening unless {@code ready} was run before; that has the scheduler wait no longer, though {@link #run} and
     * {@link #close} wait for the end of this. It may be run more than once.
     */
    default void prepare(Runnable ready) {}

    /** Has {@link #open} fail soon, if possible. Called once by another thread, before an interrupt. */
    default void abort() {}

    /** Whether only the thread that opened it may {@link #run} and {@link #close} it. Asked when open, by any thread. */
    boolean isBoundToThread();

    /** The permit that it waits for before each {@link #run}, which ends the turn; none by default. Asked once. */
    default Optional<RunPermit> turn() {
        return Optional.empty();
    }

    /**
     * Runs a batch of one request or more, leaving the result or failure in each; returns nanoseconds. A single request
     * may be {@linkplain PendingRequest#detach detached}: its run goes on afterwards. The list is valid until this
     * returns. Must not throw.
     */
    long run(List<T> batch);

    /** Waits for detached requests, and gives up what {@link #open} took; called once when it succeeded. */
    void close();
}
