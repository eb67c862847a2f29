// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.runtime.Origin;
import gatun.runtime.events.RunEvent;
import gatun.runtime.statistics.InstanceCounters.ExecutionTimes;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.Execution;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The present run of an instance: its thread, times, memory, answered requests, and whose fault a failure is. Reused
 * for all runs. Used by the instance's thread only.
 */
final class Run implements ExecutionTimes {
    private final BufferPool pool;
    private final List<Buffer> buffers = new ArrayList<>();
    private Runnable beforeInfer = () -> {};

    private @Nullable GatunException refusal;
    private @Nullable Thread thread;
    private boolean executing;
    private boolean computing;
    private int requests;
    private PendingInference[] answered = new PendingInference[1];
    private final List<RequestTrace> failed = new ArrayList<>();
    private long started;
    private long inferStarted;
    private long inferEnded;
    private long ended;

    /** @param pool gives the run its memory */
    Run(BufferPool pool) {
        this.pool = pool;
    }

    /** Sets what is done whenever the engine is about to compute. */
    void beforeInfer(Runnable action) {
        beforeInfer = action;
    }

    /** Begins a run on the calling thread. */
    void start() {
        refusal = null;
        thread = Thread.currentThread();
        requests = 0;
        executing = false;
        computing = false;
        started = System.nanoTime();
        inferStarted = started;
        inferEnded = 0;
        ended = 0;
    }

    /** Has the calling thread go on with the run. */
    void moveToCaller() {
        thread = Thread.currentThread();
    }

    /** Notes that the backend gets the run now. */
    void markExecuting() {
        executing = true;
    }

    void markInferStarted() {
        inferStarted = System.nanoTime();
        computing = true;
        beforeInfer.run();
    }

    void markInferEnded() {
        inferEnded = System.nanoTime();
    }

    void markAnswered(PendingInference pending) {
        if (requests == answered.length) {
            answered = Arrays.copyOf(answered, 2 * requests);
        }
        answered[requests++] = pending;
    }

    void markFailed(PendingInference pending) {
        if (executing) {
            pending.request().trace().ifPresent(failed::add);
        }
    }

    /** Notes that the run is over; only the first call for a run does anything. */
    void end() {
        if (ended == 0) {
            ended = System.nanoTime();
            if (inferEnded == 0) {
                inferEnded = ended;
            }
        }
    }

    /** Ends the run, tells the traces of its requests, and forgets all of them. */
    void clear() {
        end();
        for (int i = 0; i < requests; i++) {
            Optional<RequestTrace> trace = answered[i].request().trace();
            if (trace.isPresent()) {
                tell(trace.get());
            }
        }
        for (int i = 0; i < failed.size(); i++) {
            tell(failed.get(i));
        }
        failed.clear();
        Arrays.fill(answered, 0, requests, null);
        requests = 0;
        // The last first, so that the pool lends the same memory for the same input again.
        for (int i = buffers.size() - 1; i >= 0; i--) {
            buffers.get(i).close();
        }
        buffers.clear();
    }

    private void tell(RequestTrace trace) {
        trace.reached(TraceStage.COMPUTE_START, started);
        trace.reached(TraceStage.COMPUTE_INPUT_END, inferStarted);
        trace.reached(TraceStage.COMPUTE_OUTPUT_START, inferEnded);
        trace.reached(TraceStage.COMPUTE_END, ended);
    }

    /** Tells the requests that have their responses how long the stages took. */
    void tellTimes() {
        int rows = 0;
        for (int i = 0; i < requests; i++) {
            rows += inferences(i);
        }
        for (int i = 0; i < requests; i++) {
            answered[i]
                    .request()
                    .computed(
                            started - answered[i].arrivedNanos(),
                            inferStarted - started,
                            inferEnded - inferStarted,
                            ended - inferEnded);
            answered[i].request().ranWith(rows);
        }
    }

    /** Tells an event how long the stages of the run took, which has ended. */
    void tell(RunEvent event) {
        event.stages(inferStarted - started, inferEnded - inferStarted, ended - inferEnded);
    }

    /** @throws IllegalStateException on any other thread than the run's */
    void requireThread() {
        if (!Thread.currentThread().equals(thread)) {
            throw afterRun();
        }
    }

    static IllegalStateException afterRun() {
        return new IllegalStateException("an Execution was used after its run, or by another thread than the run's");
    }

    /** Whether the model may have taken the failed request; not before the backend said that it computes. */
    boolean mayHaveTaken(GatunException failure) {
        return executing && (computing || !isRefusal(failure));
    }

    /** Whether {@code failure} came from the runtime and not from the backend. */
    @SuppressWarnings("ReferenceEquality") // the very one
    boolean isRefusal(GatunException failure) {
        return failure == refusal;
    }

    /** Marks a failure as one that is not the backend's. */
    GatunException refuse(GatunException reason) {
        refusal = reason;
        return reason;
    }

    /** Memory for a response, which the caller owns. */
    Buffer take(long byteSize) {
        try {
            return pool.take(byteSize);
        } catch (GatunException e) {
            throw refuse(e);
        }
    }

    /** Memory until the run is over. */
    Buffer takeForRun(long byteSize) {
        Buffer buffer = take(byteSize);
        buffers.add(buffer);
        return buffer;
    }

    @Override
    public int requestCount() {
        return requests;
    }

    @Override
    public int inferences(int index) {
        return Math.max(1, answered[index].batchSize());
    }

    @Override
    public Origin origin(int index) {
        return answered[index].request().origin();
    }

    @Override
    public long arrivedNanos(int index) {
        return answered[index].arrivedNanos();
    }

    @Override
    public long firstResponseNanos(int index) {
        return answered[index].firstResponseNanos();
    }

    @Override
    public long startedNanos() {
        return started;
    }

    @Override
    public long inferStartedNanos() {
        return inferStarted;
    }

    @Override
    public long inferEndedNanos() {
        return inferEnded;
    }

    @Override
    public long endedNanos() {
        return ended;
    }

    /** Copies of inputs that clients could change during a run, one of each. Used by the instance's thread only. */
    static final class InputCopies {
        private final Run run;

        /** By input; also those of earlier runs, which are used again where the pool lends the same memory again. */
        private @Nullable Tensor[] copies = {};

        /** Whether the copy of an input is one of the present run. */
        private boolean[] copied = {};

        InputCopies(Run run) {
            this.run = run;
        }

        /** The copy of the run's input {@code index}. Throws UNAVAILABLE when the pool is full. */
        Tensor of(int index, Tensor input) {
            if (index >= copies.length) {
                copies = Arrays.copyOf(copies, index + 1);
                copied = Arrays.copyOf(copied, index + 1);
            }
            Tensor copy = copies[index];
            if (copy == null || !copied[index]) {
                MemorySegment bytes = run.takeForRun(input.byteSize()).segment();
                TensorCopy.copy(input.bytes(), bytes);
                if (copy == null || !isFor(copy, input, bytes)) {
                    copy = new Tensor(input.spec(), bytes);
                    copies[index] = copy;
                }
                copied[index] = true;
            }
            return copy;
        }

        @SuppressWarnings("ReferenceEquality") // the very spec that every kept request has
        private static boolean isFor(Tensor copy, Tensor input, MemorySegment bytes) {
            return copy.spec() == input.spec() && copy.bytes().equals(bytes);
        }

        void clear() {
            Arrays.fill(copied, false);
        }
    }

    /** A run as a backend sees it, and as the instance ends it; reused for all runs of an instance. */
    interface ModelExecution extends Execution {
        /** The present run, or the last one. */
        Run run();

        /** Ends a finished run and settles outputs and regions. Throws when an output is missing. */
        void finish();

        /** Notes that the run failed, or was told to stop. */
        void breakOff();

        /** Forgets the run, so that nothing of its requests is kept alive, but for its times. */
        void clear();

        @Override
        default void inferStarted() {
            run().markInferStarted();
        }

        @Override
        default void inferEnded() {
            run().markInferEnded();
        }
    }
}
