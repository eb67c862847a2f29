// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.GatunException;
import gatun.runtime.statistics.FailureReason;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.BackendInstance;
import gatun.spi.DetachedRun;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs of one request each, one after the other, on the instance's thread or, where the backend detached the run, on
 * another. Used by one thread at a time.
 */
final class SingleRun {
    private final SingleExecution execution;
    private final RunStopper stopper;
    private final RunFailures failures;
    private final InstanceCounters counters;

    /**
     * @param counters count these runs, and no others at the same time
     * @param mayDetach claims the room for one more detached run; false when there is none
     */
    SingleRun(
            InstanceResources resources,
            RunStopper stopper,
            RunFailures failures,
            InstanceCounters counters,
            BooleanSupplier mayDetach) {
        @Nullable ResponseTable responses = resources.signature().decoupled() ? counters.responses() : null;
        execution = new SingleExecution(resources.pool(), responses, mayDetach);
        this.stopper = stopper;
        this.failures = failures;
        this.counters = counters;
        execution.run().beforeInfer(stopper::stopAgain);
    }

    /** Tells the engine to stop a run that nobody wants. */
    RunStopper stopper() {
        return stopper;
    }

    /** What it has counted. */
    InstanceCounters counters() {
        return counters;
    }

    /**
     * Runs {@code ticket}, whose run the stopper has begun.
     *
     * @return how many nanoseconds that took; -1 when the run was detached and {@link #goOn} is to be called
     */
    long run(BackendInstance backend, InferenceTicket ticket) {
        execution.begin(ticket);
        execution.run().markExecuting();
        boolean detached = attempt(ticket, backend, null);
        return detached ? -1 : execution.run().endedNanos() - execution.run().startedNanos();
    }

    /** Does the rest of a run that was detached, on the calling thread. */
    void goOn(InferenceTicket ticket) {
        DetachedRun rest = execution.takeDetached();
        stopper.begin(rest::stop, List.of(ticket));
        stopper.stopAgain(); // it may have been given up while nobody watched
        attempt(ticket, null, rest);
    }

    /** Runs one of the two; true when the run goes on elsewhere. Never throws. */
    private boolean attempt(InferenceTicket ticket, @Nullable BackendInstance backend, @Nullable DetachedRun rest) {
        boolean detached = false;
        try {
            try {
                if (backend != null) {
                    backend.execute(execution);
                } else if (rest != null) {
                    rest.run(execution);
                }
            } finally {
                stopper.end();
            }
            detached = execution.isDetached();
            if (!detached) {
                ticket.request().markStepTaken();
                finish(ticket);
            }
        } catch (GatunException e) {
            execution.breakOff();
            failures.failAll(List.of(ticket), e, execution.run());
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            execution.breakOff();
            failures.failUnexpectedly(ticket, e);
        } finally {
            if (!detached) {
                execution.clear();
            }
        }
        return detached;
    }

    private void finish(InferenceTicket ticket) {
        try {
            execution.finish();
        } catch (GatunException e) {
            execution.breakOff();
            failures.fail(ticket, e, FailureReason.OTHER, true);
            return;
        }
        counters.executed(ticket.batchSize(), execution.run());
        execution.run().tellTimes();
    }
}
