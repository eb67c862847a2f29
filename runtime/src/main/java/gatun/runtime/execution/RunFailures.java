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

    /** Fails a ticket of {@code run}; {@code taken} if the model may have taken it, so that no retry is invited. */
    void fail(InferenceTicket ticket, GatunException failure, FailureReason reason, boolean taken, Run run) {
        run.markFailed(ticket);
        if (ticket.isUnwanted()) {
            giveUp(ticket, failure);
            return;
        }
        if (failure.code() == ErrorCode.INTERNAL) {
            // Not the client's mistake: whoever runs the server should know, whatever protocol the request came by.
            LOG.warn("Model '{}' failed a request: {}", modelName, failure.getMessage());
        }
        counters.failed(reason, ticket.arrivedNanos());
        if (taken) {
            ticket.failAfterRun(failure);
        } else {
            ticket.fail(failure);
        }
    }

    /** Ends a request that its client has given up; {@code failure} of its run, if there was one. */
    void giveUp(InferenceTicket ticket, @Nullable GatunException failure) {
        counters.failed(FailureReason.CANCELED, ticket.arrivedNanos());
        ticket.fail(
                failure == null
                        ? new GatunException(ErrorCode.CANCELLED, "")
                        : new GatunException(ErrorCode.CANCELLED, "", failure));
    }

    /** Counts a request whose client has got {@code failure} already, as the last of its responses. */
    void answered(InferenceTicket ticket, GatunException failure) {
        if (failure.code() == ErrorCode.INTERNAL) {
            LOG.warn("Model '{}' failed a request: {}", modelName, failure.getMessage());
        }
        counters.failed(FailureReason.BACKEND, ticket.arrivedNanos());
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

    /** Fails the tickets of a run that ended by {@code failure}, whatever that is. */
    void failAll(List<InferenceTicket> tickets, Throwable failure, Run run) {
        if (failure instanceof GatunException told) {
            failTold(tickets, told, run);
        } else {
            tickets.forEach(ticket -> failUnexpectedly(ticket, failure, run));
        }
    }

    private void failTold(List<InferenceTicket> tickets, GatunException failure, Run run) {
        FailureReason reason = run.isRefusal(failure) ? FailureReason.OTHER : FailureReason.BACKEND;
        boolean taken = run.mayHaveTaken(failure);
        tickets.forEach(ticket -> fail(ticket, failure, reason, taken, run));
    }

    /** Fails a ticket whose run broke off: a client took its memory away, or a fault of ours or the engine's. */
    private void failUnexpectedly(InferenceTicket ticket, Throwable failure, Run run) {
        if (failure instanceof InternalError) {
            // How the JVM reports a mapping that lost its memory. The lease knows whether it was the client's.
            try {
                ticket.settle();
            } catch (GatunException broken) {
                fail(ticket, broken, FailureReason.OTHER, true, run);
                return;
            }
        }
        run.markFailed(ticket);
        ticket.fail(unexpected(failure));
        counters.failed(FailureReason.BACKEND, ticket.arrivedNanos());
        log(failure);
    }

    /** Fails what has not failed yet, after a fault in handling a failure: no request may wait for ever. */
    void failRest(List<InferenceTicket> tickets, Throwable fault) {
        for (InferenceTicket ticket : tickets) {
            if (!ticket.hasFailed()) {
                ticket.fail(unexpected(fault));
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
