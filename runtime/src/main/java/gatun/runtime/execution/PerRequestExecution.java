// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.spi.BackendInstance;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runs of an instance whose model {@linkplain gatun.spi.BackendModel#takesRequestsApart takes requests apart}, each
 * of which fails alone. Reused for all of them. Used by the instance's thread only.
 */
final class PerRequestExecution {
    private final Run run;
    private final BufferPool pool;
    private final RunFailures failures;
    private final PerRequestRerun rerun;
    private final RunStopper stopper;

    /** Kept for later runs, as many as the largest one had requests. */
    private final List<SingleExecution> executions = new ArrayList<>();

    PerRequestExecution(BufferPool pool, RunFailures failures, PerRequestRerun rerun, RunStopper stopper) {
        run = new Run(pool);
        this.pool = pool;
        this.failures = failures;
        this.rerun = rerun;
        this.stopper = stopper;
        run.beforeInfer(stopper::stopAgain);
    }

    /** Runs {@code requests}, whose run the stopper has begun. Returns how many nanoseconds that took. */
    long run(BackendInstance backend, List<PendingInference> requests, InstanceCounters counters) {
        while (executions.size() < requests.size()) {
            executions.add(SingleExecution.partOf(run, pool));
        }
        List<SingleExecution> parts = executions.subList(0, requests.size());
        run.start();
        try {
            for (int i = 0; i < parts.size(); i++) {
                parts.get(i).take(requests.get(i));
            }
            run.markExecuting();
            try {
                backend.executeApart(parts);
            } finally {
                stopper.end();
            }
            finish(parts, requests);
            counters.executed(batchSize(requests), run);
            run.tellTimes();
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            if (!rerun.take(requests, e, run)) {
                failures.failAll(requests, e, run);
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

    private void finish(List<SingleExecution> parts, List<PendingInference> requests) {
        for (int i = 0; i < parts.size(); i++) {
            PendingInference pending = requests.get(i);
            pending.request().markStepTaken();
            FailureReason reason = pending.hasFailed() ? FailureReason.BACKEND : FailureReason.OTHER;
            try {
                parts.get(i).finish();
            } catch (GatunException e) {
                failures.fail(pending, e, reason, true, run);
            }
        }
    }

    private static int batchSize(List<PendingInference> requests) {
        int rows = 0;
        for (PendingInference pending : requests) {
            rows += Math.max(1, pending.batchSize());
        }
        return rows;
    }

    /** Reruns a failed batch's requests, each alone: the fault may be one's. Used by the instance's thread only. */
    static final class PerRequestRerun {
        private static final Logger LOG = LoggerFactory.getLogger(PerRequestRerun.class);

        private final String modelName;
        private final RunFailures failures;
        private final FailedSenders senders;
        private final List<PendingInference> waiting = new ArrayList<>();
        private boolean open;
        private @Nullable Throwable failure;

        /** @param senders receives those whose requests are not to be joined with others for a while */
        PerRequestRerun(String modelName, RunFailures failures, FailedSenders senders) {
            this.modelName = modelName;
            this.failures = failures;
            this.senders = senders;
        }

        /** From now on runs are clients': before, a batch that fails keeps the model from being loaded. */
        void open() {
            open = true;
        }

        /** Takes the requests of a failed run; false if all share the failure. Those failed by the backend stay so. */
        boolean take(List<PendingInference> requests, Throwable reason, Run run) {
            if (!open || requests.size() < 2 || !RunFailures.isOfModel(reason)) {
                return false;
            }
            failure = reason;
            for (PendingInference pending : requests) {
                pending.failure()
                        .ifPresentOrElse(
                                own -> failures.fail(pending, own, FailureReason.BACKEND, true, run),
                                () -> waiting.add(pending));
            }
            waiting.forEach(PendingInference::forgetRun);
            return true;
        }

        /** Runs what was taken by {@code instance}, which tells the nanoseconds of each; returns their sum. */
        long run(ToLongFunction<PendingInference> instance) {
            if (waiting.isEmpty()) {
                return 0;
            }
            List<PendingInference> requests = List.copyOf(waiting);
            waiting.clear();
            long nanos = 0;
            boolean found = false;
            for (PendingInference pending : requests) {
                nanos += instance.applyAsLong(pending);
                if (pending.failure().filter(RunFailures::isOfModel).isPresent()) {
                    senders.add(pending.request().sender());
                    found = true;
                }
            }
            if (!found) {
                LOG.warn(
                        "Model '{}' fails requests together that it answers one by one; whether they can share a run is said"
                                + " by dynamic_batching in its configuration",
                        modelName,
                        failure);
                // The next run of them would show the same.
                requests.forEach(pending -> senders.add(pending.request().sender()));
            }
            failure = null;
            return nanos;
        }
    }
}
