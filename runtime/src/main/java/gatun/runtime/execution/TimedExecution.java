package gatun.runtime.execution;

import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.GatunException;
import gatun.runtime.spi.Execution;
import gatun.runtime.statistics.Moments;
import org.jspecify.annotations.Nullable;

/** What runs for one request and runs for several have in common: their times, and whose fault a failure was. */
abstract class TimedExecution implements Execution, Moments {
    private final BufferPool pool;
    private @Nullable GatunException refusal;
    private int requests;
    private long arrivedSum;
    private long started;
    private long inferStarted;
    private long inferEnded;
    private long ended;

    TimedExecution(BufferPool pool) {
        this.pool = pool;
    }

    /** Notes that a run begins. */
    final void start() {
        refusal = null;
        requests = 0;
        arrivedSum = 0;
        started = System.nanoTime();
        inferStarted = started;
        inferEnded = 0;
        ended = 0;
    }

    /** Notes that the run has answered {@code ticket}. */
    final void answered(InferenceTicket ticket) {
        requests++;
        arrivedSum += ticket.arrivedNanos();
    }

    /** Notes that the run is over; only the first call for a run does anything. */
    final void end() {
        if (ended == 0) {
            ended = System.nanoTime();
            if (inferEnded == 0) {
                inferEnded = ended;
            }
        }
    }

    /** Whether {@code failure} came from here and not from the backend. */
    final boolean refused(GatunException failure) {
        return failure == refusal;
    }

    /** Marks a failure as one that is not the backend's. */
    final GatunException refuse(GatunException reason) {
        refusal = reason;
        return reason;
    }

    final Buffer take(long byteSize) {
        try {
            return pool.take(byteSize);
        } catch (GatunException e) {
            throw refuse(e);
        }
    }

    @Override
    public final void inferStarted() {
        inferStarted = System.nanoTime();
    }

    @Override
    public final void inferEnded() {
        inferEnded = System.nanoTime();
    }

    @Override
    public final int requestCount() {
        return requests;
    }

    @Override
    public final long arrivedNanosSum() {
        return arrivedSum;
    }

    @Override
    public final long startedNanos() {
        return started;
    }

    @Override
    public final long inferStartedNanos() {
        return inferStarted;
    }

    @Override
    public final long inferEndedNanos() {
        return inferEnded;
    }

    @Override
    public final long endedNanos() {
        return ended;
    }
}
