// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.GatunException;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.BackendInstance;
import gatun.spi.DetachedRun;
import gatun.spi.Execution;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs of one request each, one after the other, on the instance's thread or a detached run's. Not thread-safe. */
final class SingleRun {
    /** What {@link #run} returns of a run that goes on beside the instance. */
    static final long DETACHED = -1;

    private final SingleExecution execution;
    private final RunStopper stopper;
    private final RunFailures failures;
    private final InstanceCounters counters;

    /** Whether the present run goes on beside the instance; for the instance's thread. */
    private boolean left;

    /** Whether the present run is one of several that the backend does in one call. */
    private boolean together;

    private @Nullable InferenceTicket present;

    /** Starts a thread for the rest of runs. */
    @FunctionalInterface
    interface Detacher {
        /** Has another thread {@link #goOn}; false where nothing is started. */
        boolean detach(SingleRun run, InferenceTicket ticket, DetachedRun rest);
    }

    /** @param counters count these runs, and no others at the same time */
    SingleRun(
            InstanceResources resources,
            RunStopper stopper,
            RunFailures failures,
            InstanceCounters counters,
            Detacher detacher) {
        @Nullable ResponseTable responses = resources.signature().decoupled() ? counters.responses() : null;
        execution = new SingleExecution(resources.pool(), responses, rest -> leave(detacher, rest));
        this.stopper = stopper;
        this.failures = failures;
        this.counters = counters;
        execution.run().beforeInfer(stopper::stopAgain);
    }

    private boolean leave(Detacher detacher, DetachedRun rest) {
        InferenceTicket ticket = present;
        if (left || ticket == null) {
            return false;
        }
        left = detacher.detach(this, ticket, rest);
        return left;
    }

    /** Tells the engine to stop a run that nobody wants. */
    RunStopper stopper() {
        return stopper;
    }

    /** The times of the latest run. */
    Run times() {
        return execution.run();
    }

    /** What it has counted. */
    InstanceCounters counters() {
        return counters;
    }

    /**
     * Runs {@code ticket}, whose run the stopper has begun.
     *
     * @return how many nanoseconds that took, or {@link #DETACHED}
     */
    long run(BackendInstance backend, InferenceTicket ticket) {
        begin(ticket);
        together = false;
        Throwable failure = null;
        try {
            backend.execute(execution);
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            failure = e;
        }
        if (left) {
            if (failure != null) {
                failures.log(failure); // the request has its own end
            }
            return DETACHED;
        }
        end(ticket, failure);
        return execution.run().endedNanos() - execution.run().startedNanos();
    }

    private void begin(InferenceTicket ticket) {
        left = false;
        present = ticket;
        execution.begin(ticket);
        execution.run().markExecuting();
    }

    /** Begins a run that the backend does in one call with others, which is counted by the caller. */
    Execution beginTogether(InferenceTicket ticket) {
        begin(ticket);
        together = true;
        return execution;
    }

    /**
     * Ends a run for {@code ticket} that was begun together with others, unless it goes on beside the instance.
     *
     * @param failure of all of them; null for none
     * @return whether it has ended
     */
    boolean endTogether(InferenceTicket ticket, @Nullable Throwable failure) {
        if (!left) {
            end(ticket, failure);
        }
        return !left;
    }

    /** Does the rest of a run that was detached, on the calling thread. */
    void goOn(InferenceTicket ticket, DetachedRun rest) {
        execution.moveToCaller();
        stopper.begin(rest::stop, List.of(ticket));
        stopper.stopAgain(); // it may have been given up while nobody watched
        Throwable failure = null;
        try {
            rest.run(execution);
        } catch (Throwable e) {
            failure = e;
        }
        end(ticket, failure);
    }

    private void end(InferenceTicket ticket, @Nullable Throwable failure) {
        stopper.end();
        try {
            if (failure != null) {
                throw failure;
            }
            ticket.request().markStepTaken();
            finish(ticket);
        } catch (Throwable e) {
            execution.breakOff();
            failures.failAll(List.of(ticket), e, execution.run());
        } finally {
            execution.clear();
        }
    }

    private void finish(InferenceTicket ticket) {
        boolean failed = ticket.hasFailed();
        try {
            execution.finish();
        } catch (GatunException e) {
            execution.breakOff();
            failures.fail(ticket, e, failed ? FailureReason.BACKEND : FailureReason.OTHER, true, execution.run());
            return;
        }
        Optional<GatunException> lastFailure = execution.lastFailure();
        if (lastFailure.isPresent()) {
            failures.answered(ticket, lastFailure.get());
            return;
        }
        if (together) {
            counters.answered(execution.run());
        } else {
            counters.executed(ticket.batchSize(), execution.run());
        }
        execution.run().tellTimes();
    }
}
