// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.BatchingRule;
import gatun.runtime.Cancellation;
import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.BatchPolicy;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.PendingRequest;
import gatun.runtime.scheduling.Scheduler;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelQueuePolicy;
import gatun.wire.inference.ModelQueuePolicy.TimeoutAction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Submits requests of a model version to its scheduler, and counts those refused. Thread-safe. */
final class RequestSubmitter {
    /** Why a model refuses requests when its scheduler has failed. */
    static final String BROKEN =
            "the model is out of service because of a fault of the server, of which its log says more; load it again";

    private final String modelName;
    private final Scheduler<PendingInference> scheduler;
    private final QueueRules queueRules;
    private final ModelCounters counters;

    /** How requests share runs where the configuration does not say it; null for most models. */
    private final @Nullable BatchingRule rule;

    private final boolean sequences;

    RequestSubmitter(
            String modelName,
            Scheduler<PendingInference> scheduler,
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
    void complete(PendingInference pending, InferenceRequest request, long arrivedNanos) {
        request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
        queueRules.apply(pending, request);
        Cancellation cancellation = request.cancellation();
        if (!cancellation.arm(pending.canceller(scheduler))) {
            throw givenUp(arrivedNanos);
        }
        try {
            submit(pending, request, arrivedNanos);
            await(pending, arrivedNanos);
        } catch (GatunException e) {
            throw request.afterRun(e); // a step that runs again and again has run before
        } finally {
            cancellation.end();
        }
    }

    /** The same for the pieces of one request. */
    void completeAll(List<PendingInference> requests, InferenceRequest request, long arrivedNanos) {
        request.trace().ifPresent(trace -> trace.reached(TraceStage.QUEUE_START));
        for (int i = 0; i < requests.size(); i++) {
            queueRules.apply(requests.get(i), request);
        }
        Cancellation cancellation = request.cancellation();
        if (!cancellation.arm(() -> requests.forEach(pending -> pending.cancel(scheduler)))) {
            throw givenUp(arrivedNanos);
        }
        int submitted = 0;
        int ended = 0;
        try {
            for (; submitted < requests.size(); submitted++) {
                submit(requests.get(submitted), request, arrivedNanos);
            }
            request.submitted();
            while (ended < submitted) {
                await(requests.get(ended++), arrivedNanos);
            }
        } finally {
            // After a failure: what runs uses the request's memory until it has ended.
            for (int i = ended; i < submitted; i++) {
                requests.get(i).giveUp(scheduler);
            }
            for (int i = ended; i < submitted; i++) {
                requests.get(i).await(scheduler);
            }
            cancellation.end();
        }
    }

    /** Has a request wait for an instance. */
    private void submit(PendingInference pending, InferenceRequest request, long arrivedNanos) {
        switch (scheduler.submit(pending)) {
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
        if (pending.cancelled()) {
            pending.giveUp(scheduler); // it was not in the queue yet when it was given up
        }
    }

    /** Waits for a request's end; parks the calling thread. */
    private void await(PendingInference pending, long arrivedNanos) {
        switch (pending.await(scheduler)) {
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

    /** How requests to a model wait: in which priority level, how long, and what happens then. Immutable. */
    static final class QueueRules {
        private final BatchPolicy policy;
        private final Levels levels;

        /**
         * The priority levels of a model, unsigned; the least is the most urgent. Requests may name 1 to {@code count};
         * others are of level {@code standard}. Levels not in {@code own} wait as {@code usual}.
         */
        private record Levels(long count, long standard, Level usual, Map<Long, Level> own) {
            static Levels one(Level level) {
                return new Levels(0, 0, level, Map.of());
            }

            long named(long wished) {
                return wished != 0 && Long.compareUnsigned(wished, count) <= 0 ? wished : standard;
            }

            Level at(long number) {
                return own.isEmpty() ? usual : own.getOrDefault(number, usual);
            }
        }

        /**
         * How long a request of one level may wait. A queue policy ({@code ruled}) may let requests shorten its limit,
         * where 0 is none; without one their own wish counts only where sequences wait for a slot. {@code delays}
         * whether overdue requests are put behind others instead of being refused.
         */
        record Level(long defaultMicros, boolean mayShorten, boolean ruled, boolean delays) {
            static final Level UNRULED = new Level(0, true, false, false);
            static final Level UNLIMITED = new Level(0, false, false, false);

            static Level of(ModelQueuePolicy policy) {
                return new Level(
                        policy.getDefaultTimeoutMicroseconds(),
                        policy.getAllowTimeoutOverride(),
                        true,
                        policy.getTimeoutAction() == TimeoutAction.DELAY);
            }

            /** When the time of a request that is submitted now is over; 0 for never. */
            long deadlineNanos(long requestedMicros) {
                long micros = defaultMicros;
                if (mayShorten
                        && requestedMicros != 0
                        && (!ruled || Long.compareUnsigned(requestedMicros, defaultMicros) < 0)) {
                    micros = requestedMicros;
                }
                if (micros <= 0) {
                    return 0; // An unsigned number: one beyond 2^63 limits nothing.
                }
                long now = System.nanoTime();
                long deadline = now + TimeUnit.MICROSECONDS.toNanos(micros);
                // 0 means never, and a wait of centuries does too.
                return deadline == 0 || deadline - now < 0 ? 0 : deadline;
            }
        }

        private QueueRules(BatchPolicy policy, Levels levels) {
            this.policy = policy;
            this.levels = levels;
        }

        /** The configuration's rules, or {@code rule}'s; {@code apart} if requests of a run keep their own tensors. */
        static QueueRules of(ModelConfig config, int queueLimit, @Nullable BatchingRule rule, boolean apart) {
            if (rule != null) {
                return new QueueRules(policy(rule), Levels.one(Level.UNRULED));
            }
            if (!config.hasDynamicBatching()) {
                Level level = config.hasSequenceBatching() ? Level.UNRULED : Level.UNLIMITED;
                return new QueueRules(BatchPolicy.single(queueLimit), Levels.one(level));
            }
            ModelDynamicBatching batching = config.getDynamicBatching();
            Levels levels = levels(batching);
            QueueCapacities capacities = capacities(batching, queueLimit);
            if (config.getModelTransactionPolicy().getDecoupled() && !apart) {
                // The responses of a run that has its requests in one tensor belong to one request.
                boolean ordered = batching.getPreserveOrdering();
                return new QueueRules(new BatchPolicy(0, List.of(), 0, ordered, capacities), levels);
            }
            List<Integer> preferred = batching.getPreferredBatchSizeList();
            BatchPolicy policy = new BatchPolicy(
                    config.getMaxBatchSize(),
                    preferred.isEmpty()
                            ? List.of(config.getMaxBatchSize())
                            : preferred.stream().sorted().toList(),
                    TimeUnit.MICROSECONDS.toNanos(batching.getMaxQueueDelayMicroseconds()),
                    batching.getPreserveOrdering(),
                    capacities);
            return new QueueRules(policy, levels);
        }

        private static Levels levels(ModelDynamicBatching batching) {
            Level usual = Level.of(batching.getDefaultQueuePolicy());
            if (batching.getPriorityLevels() == 0) {
                return Levels.one(usual);
            }
            Map<Long, Level> own = new HashMap<>();
            batching.getPriorityQueuePolicyMap().forEach((level, policy) -> own.put(level, Level.of(policy)));
            return new Levels(batching.getPriorityLevels(), batching.getDefaultPriorityLevel(), usual, Map.copyOf(own));
        }

        private static QueueCapacities capacities(ModelDynamicBatching batching, int queueLimit) {
            int usual = capacity(batching.getDefaultQueuePolicy(), queueLimit);
            if (batching.getPriorityLevels() == 0) {
                return QueueCapacities.all(usual);
            }
            Map<Long, Integer> own = new HashMap<>();
            batching.getPriorityQueuePolicyMap()
                    .forEach((level, policy) -> own.put(level, capacity(policy, queueLimit)));
            return new QueueCapacities(usual, own);
        }

        private static int capacity(ModelQueuePolicy policy, int queueLimit) {
            // An unsigned 32-bit number: one beyond 2^31 limits nothing.
            return policy.getMaxQueueSize() <= 0 ? queueLimit : policy.getMaxQueueSize();
        }

        private static BatchPolicy policy(BatchingRule rule) {
            int capacity = (int) Math.min(Integer.MAX_VALUE, (long) rule.maxWaitingRuns() * rule.maxRunSize());
            return new BatchPolicy(
                    rule.maxRunSize(),
                    List.of(rule.maxRunSize()),
                    rule.maxDelayNanos(),
                    false,
                    QueueCapacities.all(capacity),
                    true);
        }

        BatchPolicy policy() {
            return policy;
        }

        /** The priority level of a request that wishes for {@code priority}; 0 is no wish. */
        long level(long priority) {
            return levels.named(priority);
        }

        /** Tells {@code pending}, which is submitted next, how it waits. */
        void apply(PendingRequest pending, InferenceRequest request) {
            long level = level(request.priority());
            Level rules = levels.at(level);
            pending.limitWait(level, rules.deadlineNanos(request.timeoutMicros()), rules.delays());
        }
    }
}
