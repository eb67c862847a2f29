// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.Origin;
import gatun.runtime.statistics.Moments;
import gatun.spi.Execution;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What runs for one request and runs for several have in common: their times, and whose fault a failure was. */
abstract class TimedExecution implements Execution, Moments {
    private final BufferPool pool;
    private @Nullable GatunException refusal;
    private @Nullable Thread runner;
    private boolean executing;
    private boolean computing;
    private int requests;
    private InferenceTicket[] answered = new InferenceTicket[1];
    private Runnable beforeInfer = () -> {};
    private long started;
    private long inferStarted;
    private long inferEnded;
    private long ended;

    TimedExecution(BufferPool pool) {
        this.pool = pool;
    }

    /** Says what to do whenever the engine is about to compute. */
    final void beforeInfer(Runnable action) {
        beforeInfer = action;
    }

    /** Notes that a run begins. */
    final void start() {
        refusal = null;
        runner = Thread.currentThread();
        requests = 0;
        executing = false;
        computing = false;
        started = System.nanoTime();
        inferStarted = started;
        inferEnded = 0;
        ended = 0;
    }

    /** Notes that the backend gets the run now. */
    final void executing() {
        executing = true;
    }

    /**
     * Whether the model may have taken a request whose run ended by {@code failure}. Before the backend says that it computes, it has
     * not if the failure is the runtime's.
     */
    final boolean mayHaveTaken(GatunException failure) {
        return executing && (computing || !refused(failure));
    }

    /** Whether the calling thread is the one that this run is on. */
    final boolean isRunner() {
        return Thread.currentThread().equals(runner);
    }

    /** What becomes of an execution that a backend keeps. */
    static IllegalStateException afterRun() {
        return new IllegalStateException("an Execution was used after its run, or by another thread than the run's");
    }

    /** Notes that the run has answered {@code ticket}. */
    final void answered(InferenceTicket ticket) {
        if (requests == answered.length) {
            answered = Arrays.copyOf(answered, 2 * requests);
        }
        answered[requests++] = ticket;
    }

    /** Tells the requests that the run has answered how long its stages took. */
    final void tellTimes() {
        for (int i = 0; i < requests; i++) {
            answered[i].computed(inferStarted - started, inferEnded - inferStarted, ended - inferEnded);
        }
    }

    /** Tells the traces of the tickets, if they have any; and forgets the tickets, so that nothing of their requests is kept alive. */
    final void forget() {
        for (int i = 0; i < requests; i++) {
            answered[i].traceRun(this);
        }
        Arrays.fill(answered, 0, requests, null);
        requests = 0;
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
    @SuppressWarnings("ReferenceEquality") // the very one
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
        computing = true;
        beforeInfer.run();
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
    public final int inferences(int index) {
        return Math.max(1, answered[index].batchSize());
    }

    @Override
    public final Origin origin(int index) {
        return answered[index].origin();
    }

    @Override
    public final long arrivedNanos(int index) {
        return answered[index].arrivedNanos();
    }

    @Override
    public final long firstResponseNanos(int index) {
        return answered[index].firstResponseNanos();
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
