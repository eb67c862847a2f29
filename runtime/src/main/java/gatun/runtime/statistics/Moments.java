package gatun.runtime.statistics;

/** When the stages of one execution began, as readings of {@link System#nanoTime}; each is taken once. */
public interface Moments {
    /** The request reached the runtime. */
    long arrivedNanos();

    /** An instance took it. */
    long startedNanos();

    /** The engine began. */
    long inferStartedNanos();

    /** The engine was done. */
    long inferEndedNanos();

    /** The outputs were in place. */
    long endedNanos();
}
