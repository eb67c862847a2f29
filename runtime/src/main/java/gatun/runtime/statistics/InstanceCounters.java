package gatun.runtime.statistics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What one instance has done. Written by the instance's thread only, read by any thread: a value may be stale but is never
 * torn, and the values of one execution may be seen one after the other.
 */
public final class InstanceCounters {
    private static final VarHandle SUCCESSES = field("successes");
    private static final VarHandle INFERENCES = field("inferences");
    private static final VarHandle EXECUTIONS = field("executions");
    private static final VarHandle REQUEST_NANOS = field("requestNanos");
    private static final VarHandle QUEUE_NANOS = field("queueNanos");
    private static final VarHandle INPUT_NANOS = field("inputNanos");
    private static final VarHandle INFER_NANOS = field("inferNanos");
    private static final VarHandle OUTPUT_NANOS = field("outputNanos");

    private long successes;
    private long inferences;
    private long executions;
    private long requestNanos;
    private long queueNanos;
    private long inputNanos;
    private long inferNanos;
    private long outputNanos;

    /** Counts an execution that answered one request; the moments are readings of {@link System#nanoTime}. */
    public void executed(int batchSize, Moments moments) {
        add(SUCCESSES, successes, 1);
        add(INFERENCES, inferences, Math.max(1, batchSize));
        add(EXECUTIONS, executions, 1);
        add(REQUEST_NANOS, requestNanos, moments.endedNanos() - moments.arrivedNanos());
        add(QUEUE_NANOS, queueNanos, moments.startedNanos() - moments.arrivedNanos());
        add(INPUT_NANOS, inputNanos, moments.inferStartedNanos() - moments.startedNanos());
        add(INFER_NANOS, inferNanos, moments.inferEndedNanos() - moments.inferStartedNanos());
        add(OUTPUT_NANOS, outputNanos, moments.endedNanos() - moments.inferEndedNanos());
    }

    private void add(VarHandle counter, long present, long delta) {
        // A plain read of the present value: this thread is the only writer.
        counter.setRelease(this, present + delta);
    }

    long successes() {
        return (long) SUCCESSES.getAcquire(this);
    }

    long inferences() {
        return (long) INFERENCES.getAcquire(this);
    }

    long executions() {
        return (long) EXECUTIONS.getAcquire(this);
    }

    long requestNanos() {
        return (long) REQUEST_NANOS.getAcquire(this);
    }

    long queueNanos() {
        return (long) QUEUE_NANOS.getAcquire(this);
    }

    long inputNanos() {
        return (long) INPUT_NANOS.getAcquire(this);
    }

    long inferNanos() {
        return (long) INFER_NANOS.getAcquire(this);
    }

    long outputNanos() {
        return (long) OUTPUT_NANOS.getAcquire(this);
    }

    private static VarHandle field(String name) {
        try {
            return MethodHandles.lookup().findVarHandle(InstanceCounters.class, name, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
