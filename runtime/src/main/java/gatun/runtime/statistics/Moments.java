package gatun.runtime.statistics;

/** When the stages of one execution began, as readings of {@link System#nanoTime}; each is taken once. */
public interface Moments {
    /** How many requests the execution answered. */
    int requestCount();

    /** The sum of the moments when each of them reached the runtime; may overflow, and then so do differences that undo it. */
    long arrivedNanosSum();

    /** An instance took it. */
    long startedNanos();

    /** The engine began. */
    long inferStartedNanos();

    /** The engine was done. */
    long inferEndedNanos();

    /** The outputs were in place. */
    long endedNanos();
}
