// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.FailureLog;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.spi.EngineLostException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fails the requests of a failed run, counts them, and logs what the operator can mend. Thread-safe. */
final class RunFailures {
    private static final Logger LOG = LoggerFactory.getLogger(RunFailures.class);

    private final String instanceName;
    private final String modelName;
    private final ModelCounters counters;

    RunFailures(String instanceName, String modelName, ModelCounters counters) {
        this.instanceName = instanceName;
        this.modelName = modelName;
        this.counters = counters;
    }

    /** Fails a request of {@code run}; {@code taken} if the model may have taken it, so that no retry is invited. */
    void fail(PendingInference pending, GatunException failure, FailureReason reason, boolean taken, Run run) {
        run.markFailed(pending);
        if (pending.cancelled()) {
            giveUp(pending, failure);
            return;
        }
        if (failure.code() == ErrorCode.INTERNAL) {
            // Not the client's mistake: whoever runs the server should know, whatever protocol the request came by.
            LOG.warn("Model '{}' failed a request: {}", modelName, failure.getMessage());
        }
        counters.failed(reason, pending.arrivedNanos());
        if (taken) {
            pending.failAfterRun(failure);
        } else {
            pending.fail(failure);
        }
    }

    /** Ends a request that its client has given up; {@code failure} of its run, if there was one. */
    void giveUp(PendingInference pending, @Nullable GatunException failure) {
        counters.failed(FailureReason.CANCELED, pending.arrivedNanos());
        pending.fail(
                failure == null
                        ? new GatunException(ErrorCode.CANCELLED, "")
                        : new GatunException(ErrorCode.CANCELLED, "", failure));
    }

    /** Counts a request whose client has got {@code failure} already, as the last of its responses. */
    void answered(PendingInference pending, GatunException failure) {
        if (failure.code() == ErrorCode.INTERNAL) {
            LOG.warn("Model '{}' failed a request: {}", modelName, failure.getMessage());
        }
        counters.failed(FailureReason.BACKEND, pending.arrivedNanos());
    }

    /** Whether a run failed by the model's own error, not by a crash, limit, lack of memory or cancellation. */
    static boolean isOfModel(Throwable failure) {
        return switch (failure) {
            case EngineLostException lost -> false;
            case GatunException told ->
                switch (told.code()) {
                    case UNKNOWN,
                            INTERNAL,
                            NOT_FOUND,
                            INVALID_ARGUMENT,
                            UNSUPPORTED,
                            PERMISSION_DENIED,
                            ALREADY_EXISTS -> true;
                    case RESOURCE_EXHAUSTED, UNAVAILABLE, CANCELLED -> false;
                };
            case InternalError lostMapping -> true; // one client's, who took his memory away
            default -> failure instanceof Exception;
        };
    }

    /** Fails the requests of a run that ended by {@code failure}, whatever that is. */
    void failAll(List<PendingInference> requests, Throwable failure, Run run) {
        if (failure instanceof GatunException told) {
            failTold(requests, told, run);
        } else {
            requests.forEach(pending -> failUnexpectedly(pending, failure, run));
        }
    }

    private void failTold(List<PendingInference> requests, GatunException failure, Run run) {
        FailureReason reason = run.isRefusal(failure) ? FailureReason.OTHER : FailureReason.BACKEND;
        boolean taken = run.mayHaveTaken(failure);
        requests.forEach(pending -> fail(pending, failure, reason, taken, run));
    }

    /** Fails a request whose run broke off: a client took its memory away, or a fault of ours or the engine's. */
    private void failUnexpectedly(PendingInference pending, Throwable failure, Run run) {
        if (failure instanceof InternalError) {
            // How the JVM reports a mapping that lost its memory. The lease knows whether it was the client's.
            try {
                pending.settle();
            } catch (GatunException broken) {
                fail(pending, broken, FailureReason.OTHER, true, run);
                return;
            }
        }
        run.markFailed(pending);
        pending.fail(unexpected(failure));
        counters.failed(FailureReason.BACKEND, pending.arrivedNanos());
        log(failure);
    }

    /** Fails what has not failed yet, after a fault in handling a failure: no request may wait for ever. */
    void failRest(List<PendingInference> requests, Throwable fault) {
        for (PendingInference pending : requests) {
            if (!pending.hasFailed()) {
                pending.fail(unexpected(fault));
            }
        }
        log(fault);
    }

    private GatunException unexpected(Throwable failure) {
        return new GatunException(
                ErrorCode.INTERNAL,
                "model '" + modelName + "' failed unexpectedly; the server's log says more",
                failure);
    }

    /** Tells the log of a fault that fails nobody's request. */
    void log(Throwable unexpected) {
        FailureLog.write(
                unexpected,
                failure ->
                        LOG.error("Instance {} of model '{}' failed unexpectedly", instanceName, modelName, failure));
    }
}
