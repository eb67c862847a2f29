package gatun.runtime.scheduling;

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
     * Runs a ticket and leaves the result, or the failure, in it. Must not throw.
     *
     * @return how long it took, in nanoseconds
     */
    long run(T ticket);

    /** Gives up what {@link #open} took; called once when it succeeded. */
    void close();
}
