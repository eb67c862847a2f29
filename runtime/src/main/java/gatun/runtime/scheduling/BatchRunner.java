// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;
import java.util.Optional;

/**
 * Runs the batches of an instance. The instance's thread opens and closes it, and mostly calls it. Unless {@link
 * #isBoundToThread} other threads call it too, and another may take that thread's place; never two at a time, and each
 * sees the writes of the one before.
 *
 * @param <T> what it runs
 */
public interface BatchRunner<T extends Ticket> {
    /** The name of its thread. */
    String threadName();

    /** Makes ready; a failure keeps the scheduler from opening. */
    void open();

    /**
     * Does what is better done before the first run, on the thread that opened it, and next to that. A failure keeps the
     * scheduler from opening unless {@code ready} was run before. Does nothing by default.
     *
     * @param ready has the scheduler wait no longer, where this takes long: then {@link #run} and {@link #close} wait for
     *     the end of this; may be run more than once
     */
    default void prepare(Runnable ready) {}

    /** Has {@link #open} fail soon, if possible. Called once by another thread, before an interrupt. */
    default void abort() {}

    /** Whether {@link #run} and {@link #close} must be called by the thread that opened it. Asked when it is open, by any thread. */
    boolean isBoundToThread();

    /** The permit that it waits for before each {@link #run}, which ends the turn; none by default. Asked once. */
    default Optional<RunPermit> turn() {
        return Optional.empty();
    }

    /**
     * Runs a batch and leaves the result, or the failure, in each ticket. A single ticket may be {@linkplain
     * Ticket#detach detached}: its run then goes on after this has returned. Must not throw.
     *
     * @param batch at least one ticket; valid until this returns
     * @return how long it took, in nanoseconds
     */
    long run(List<T> batch);

    /** Waits for detached tickets, and gives up what {@link #open} took; called once when it succeeded. */
    void close();
}
