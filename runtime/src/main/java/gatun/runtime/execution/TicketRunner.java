// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.BatchingRule;
import gatun.runtime.Cancellation;
import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Submits requests of a model version to its scheduler, and counts those refused. Thread-safe. */
final class TicketRunner {
    /** Why a model refuses requests when its scheduler has failed. */
    static final String BROKEN =
            "the model is out of service because of a fault of the server, of which its log says more; load it again";

    private final String modelName;
    private final Scheduler<InferenceTicket> scheduler;
    private final QueueRules queueRules;
    private final ModelCounters counters;

    /** How requests share runs where the configuration does not say it; null for most models. */
    private final @Nullable BatchingRule rule;

    private final boolean sequences;

    TicketRunner(
            String modelName,
            Scheduler<InferenceTicket> scheduler,
            QueueRules queueRules,
            ModelCounters counters,
            @Nullable BatchingRule rule,
            boolean sequences) {
        this.modelName = modelName;
        this.scheduler = scheduler;
        this.queueRules = queueRules;
        this.counters = counters;
        this.rule = rule;
        this.sequences = sequences;
    }

    /** Brings a checked request to its end, or throws what kept it from running; parks the calling thread. */
    void complete(InferenceTicket ticket, InferenceRequest request, long arrivedNanos) {
        request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
        queueRules.apply(ticket, request);
        Cancellation cancellation = request.cancellation();
        if (!cancellation.arm(ticket.canceller(scheduler))) {
            throw givenUp(arrivedNanos);
        }
        try {
            submit(ticket, request, arrivedNanos);
            await(ticket, arrivedNanos);
        } catch (GatunException e) {
            throw request.afterRun(e); // a step that runs again and again has run before
        } finally {
            cancellation.end();
        }
    }

    /** The same for the pieces of one request. */
    void completeAll(List<InferenceTicket> tickets, InferenceRequest request, long arrivedNanos) {
        request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
        for (int i = 0; i < tickets.size(); i++) {
            queueRules.apply(tickets.get(i), request);
        }
        Cancellation cancellation = request.cancellation();
        if (!cancellation.arm(() -> tickets.forEach(ticket -> ticket.cancel(scheduler)))) {
            throw givenUp(arrivedNanos);
        }
        int submitted = 0;
        int ended = 0;
        try {
            for (; submitted < tickets.size(); submitted++) {
                submit(tickets.get(submitted), request, arrivedNanos);
            }
            request.submitted();
            while (ended < submitted) {
                await(tickets.get(ended++), arrivedNanos);
            }
        } finally {
            // After a failure: what runs uses the request's memory until it has ended.
            for (int i = ended; i < submitted; i++) {
                tickets.get(i).giveUp(scheduler);
            }
            for (int i = ended; i < submitted; i++) {
                tickets.get(i).await(scheduler);
            }
            cancellation.end();
        }
    }

    /** Has a ticket wait for an instance. */
    private void submit(InferenceTicket ticket, InferenceRequest request, long arrivedNanos) {
        switch (scheduler.submit(ticket)) {
            case ACCEPTED -> {}
            case QUEUE_FULL -> {
                counters.failed(FailureReason.REJECTED, arrivedNanos);
                throw rule != null
                        ? RequestErrors.schedulingQueueFull(rule.maxWaitingRuns())
                        : new GatunException(
                                ErrorCode.UNAVAILABLE, RequestErrors.prefix(request) + "Exceeds maximum queue size");
            }
            case STOPPING -> throw stopping(arrivedNanos);
            case NO_SEQUENCE -> {
                counters.failed(FailureReason.OTHER, arrivedNanos);
                throw RequestErrors.sequenceNotStarted(request, modelName);
            }
        }
        if (ticket.isUnwanted()) {
            ticket.giveUp(scheduler); // it was not in the queue yet when it was given up
        }
    }

    /** Waits for a ticket's end; parks the calling thread. */
    private void await(InferenceTicket ticket, long arrivedNanos) {
        switch (ticket.await(scheduler)) {
            case COMPLETED -> {}
            case REFUSED -> throw stopping(arrivedNanos);
            case EXPIRED -> {
                counters.failed(FailureReason.REJECTED, arrivedNanos);
                throw new GatunException(
                        ErrorCode.UNAVAILABLE,
                        sequences
                                ? "timeout of the corresponding sequence has been expired"
                                : "Request timeout expired");
            }
            case GIVEN_UP -> throw givenUp(arrivedNanos);
        }
    }

    private GatunException givenUp(long arrivedNanos) {
        counters.failed(FailureReason.CANCELED, arrivedNanos);
        return new GatunException(ErrorCode.CANCELLED, "");
    }

    private GatunException stopping(long arrivedNanos) {
        counters.failed(FailureReason.REJECTED, arrivedNanos);
        return scheduler.isBroken() ? new GatunException(ErrorCode.UNAVAILABLE, BROKEN) : new VersionRetiredException();
    }
}
