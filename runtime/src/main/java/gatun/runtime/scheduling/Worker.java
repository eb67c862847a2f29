package gatun.runtime.scheduling;

import java.util.List;

/**
 * What an instance's thread does. All methods are called by that one thread, so that an implementation may keep memory
 * and handles that only their thread may use.
 *
 * @param <T> what it runs
 */
public interface Worker<T extends Ticket> {
    /** The name of its thread. */
    String threadName();

    /** Makes ready; a failure keeps the scheduler from opening. */
    void open();

    /**
     * Runs a batch and leaves the result, or the failure, in each ticket. Must not throw.
     *
     * @param batch at least one ticket; valid until this returns
     * @return how long it took, in nanoseconds
     */
    long run(List<T> batch);

    /** Gives up what {@link #open} took; called once when it succeeded. */
    void close();
}
