// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.spi.BackendInstance;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs of an instance whose model {@linkplain gatun.spi.BackendModel#takesRequestsApart takes requests apart}: each
 * request has its own inputs and outputs, and fails alone. One object serves all of them. Used by the instance's thread
 * only.
 */
final class ApartRun {
    private final Run run;
    private final BufferPool pool;
    private final RunFailures failures;
    private final ApartRerun rerun;
    private final RunStopper stopper;

    /** Kept for later runs, as many as the largest one had requests. */
    private final List<SingleExecution> executions = new ArrayList<>();

    ApartRun(BufferPool pool, RunFailures failures, ApartRerun rerun, RunStopper stopper) {
        run = new Run(pool);
        this.pool = pool;
        this.failures = failures;
        this.rerun = rerun;
        this.stopper = stopper;
        run.beforeInfer(stopper::stopAgain);
    }

    /** Runs {@code tickets}, whose run the stopper has begun. Returns how many nanoseconds that took. */
    long run(BackendInstance backend, List<InferenceTicket> tickets, InstanceCounters counters) {
        while (executions.size() < tickets.size()) {
            executions.add(SingleExecution.partOf(run, pool));
        }
        List<SingleExecution> parts = executions.subList(0, tickets.size());
        run.start();
        try {
            for (int i = 0; i < parts.size(); i++) {
                parts.get(i).take(tickets.get(i));
            }
            run.markExecuting();
            try {
                backend.executeApart(parts);
            } finally {
                stopper.end();
            }
            finish(parts, tickets);
            counters.executed(batchSize(tickets), run);
            run.tellTimes();
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            if (!rerun.take(tickets, e, run)) {
                failures.failAll(tickets, e, run);
            }
        } finally {
            run.clear();
            parts.forEach(part -> part.take(null));
        }
        return run.endedNanos() - run.startedNanos();
    }

    Run times() {
        return run;
    }

    private void finish(List<SingleExecution> parts, List<InferenceTicket> tickets) {
        for (int i = 0; i < parts.size(); i++) {
            InferenceTicket ticket = tickets.get(i);
            ticket.request().markStepTaken();
            FailureReason reason = ticket.hasFailed() ? FailureReason.BACKEND : FailureReason.OTHER;
            try {
                parts.get(i).finish();
            } catch (GatunException e) {
                failures.fail(ticket, e, reason, true, run);
            }
        }
    }

    private static int batchSize(List<InferenceTicket> tickets) {
        int rows = 0;
        for (InferenceTicket ticket : tickets) {
            rows += Math.max(1, ticket.batchSize());
        }
        return rows;
    }
}
