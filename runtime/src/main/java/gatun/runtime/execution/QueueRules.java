// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.BatchingRule;
import gatun.runtime.InferenceRequest;
import gatun.runtime.scheduling.BatchPolicy;
import gatun.runtime.scheduling.Ticket;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelQueuePolicy;
import gatun.wire.inference.ModelQueuePolicy.TimeoutAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How the configuration of a model lets requests wait: in which priority level, for how long, and what happens then.
 * Immutable.
 */
final class QueueRules {
    private final BatchPolicy policy;
    private final List<Level> levels;

    /**
     * How long a request of one level may wait. Where the configuration has a queue policy, it rules: a request may
     * then only shorten the policy's limit, and only if the policy lets it. Without one the request's own wish counts
     * where sequences wait for a slot, and nowhere else.
     *
     * @param defaultMicros the policy's limit; 0 for none
     * @param mayShorten whether a request's wish counts when it is shorter than the limit
     * @param ruled whether there is a policy
     * @param delays whether a request that waited too long is put behind others instead of being refused
     */
    private record Level(long defaultMicros, boolean mayShorten, boolean ruled, boolean delays) {
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
            if (mayShorten && requestedMicros > 0 && (!ruled || requestedMicros < defaultMicros)) {
                micros = requestedMicros;
            }
            if (micros <= 0) {
                return 0;
            }
            long now = System.nanoTime();
            long deadline = now + TimeUnit.MICROSECONDS.toNanos(micros);
            // 0 means never, and a wait of centuries does too.
            return deadline == 0 || deadline - now < 0 ? 0 : deadline;
        }
    }

    private QueueRules(BatchPolicy policy, List<Level> levels) {
        this.policy = policy;
        this.levels = List.copyOf(levels);
    }

    /**
     * The rules of {@code config}.
     *
     * @param queueLimit how many requests may wait where the configuration sets no limit
     * @param rule decides where the configuration does not; null for none
     */
    static QueueRules of(ModelConfig config, int queueLimit, @Nullable BatchingRule rule) {
        if (rule != null) {
            return new QueueRules(policy(rule), List.of(Level.UNRULED));
        }
        if (!config.hasDynamicBatching()) {
            Level level = config.hasSequenceBatching() ? Level.UNRULED : Level.UNLIMITED;
            return new QueueRules(BatchPolicy.single(queueLimit), List.of(level));
        }
        ModelDynamicBatching batching = config.getDynamicBatching();
        int count = (int) Math.max(1, batching.getPriorityLevels());
        List<Level> levels = new ArrayList<>(count);
        List<Integer> capacities = new ArrayList<>(count);
        for (long level = 1; level <= count; level++) {
            ModelQueuePolicy policy = batching.getPriorityQueuePolicyOrDefault(level, batching.getDefaultQueuePolicy());
            levels.add(Level.of(policy));
            // An unsigned 32-bit number: one beyond 2^31 limits nothing.
            capacities.add(policy.getMaxQueueSize() <= 0 ? queueLimit : policy.getMaxQueueSize());
        }
        int defaultLevel = (int) Math.max(0, batching.getDefaultPriorityLevel() - 1);
        if (config.getModelTransactionPolicy().getDecoupled()) {
            // The responses of a run belong to one request.
            boolean ordered = batching.getPreserveOrdering();
            return new QueueRules(new BatchPolicy(0, List.of(), 0, ordered, capacities, defaultLevel), levels);
        }
        List<Integer> preferred = batching.getPreferredBatchSizeList();
        BatchPolicy policy = new BatchPolicy(
                config.getMaxBatchSize(),
                preferred.isEmpty()
                        ? List.of(config.getMaxBatchSize())
                        : preferred.stream().sorted().toList(),
                TimeUnit.MICROSECONDS.toNanos(batching.getMaxQueueDelayMicroseconds()),
                batching.getPreserveOrdering(),
                capacities,
                defaultLevel);
        return new QueueRules(policy, levels);
    }

    private static BatchPolicy policy(BatchingRule rule) {
        int capacity = (int) Math.min(Integer.MAX_VALUE, (long) rule.maxWaitingRuns() * rule.maxRunSize());
        return new BatchPolicy(
                rule.maxRunSize(), List.of(rule.maxRunSize()), rule.maxDelayNanos(), false, List.of(capacity), 0, true);
    }

    BatchPolicy policy() {
        return policy;
    }

    /** Tells {@code ticket}, which is submitted next, how it waits. */
    void apply(Ticket ticket, InferenceRequest request) {
        long wished = request.priority();
        int level = wished > 0 && wished <= levels.size() ? (int) (wished - 1) : policy.defaultLevel();
        Level rules = levels.get(level);
        ticket.limitWait(level, rules.deadlineNanos(request.timeoutMicros()), rules.delays());
    }
}
