// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.BatchingRule;
import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.BatchPolicy;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.Ticket;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelQueuePolicy;
import gatun.wire.inference.ModelQueuePolicy.TimeoutAction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How requests to a model wait: in which priority level, how long, and what happens then. Immutable. */
final class QueueRules {
    private final BatchPolicy policy;
    private final Levels levels;

    /**
     * The priority levels of a model; numbers without a sign, the least of which is the most urgent.
     *
     * @param count the greatest number that a request may name; the least is 1
     * @param standard the level of requests that name none, or one that there is not
     * @param usual how requests wait in a level that is not among {@code own}
     * @param own how they wait in the levels that have queue policies of their own
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
     * How long a request of one level may wait. Where the configuration has a queue policy, it rules: a request may
     * then only shorten the policy's limit, and only if the policy lets it. Without one the request's own wish counts
     * where sequences wait for a slot, and nowhere else.
     *
     * @param defaultMicros the policy's limit; 0 for none
     * @param mayShorten whether a request's wish counts when it is shorter than the limit
     * @param delays whether a request that waited too long is put behind others instead of being refused
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

    /**
     * The rules of {@code config}.
     *
     * @param queueLimit how many requests may wait where the configuration sets no limit
     * @param rule decides where the configuration does not; null for none
     * @param apart whether the requests of a run keep their own tensors
     */
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
        batching.getPriorityQueuePolicyMap().forEach((level, policy) -> own.put(level, capacity(policy, queueLimit)));
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

    /** Tells {@code ticket}, which is submitted next, how it waits. */
    void apply(Ticket ticket, InferenceRequest request) {
        long level = level(request.priority());
        Level rules = levels.at(level);
        ticket.limitWait(level, rules.deadlineNanos(request.timeoutMicros()), rules.delays());
    }
}
