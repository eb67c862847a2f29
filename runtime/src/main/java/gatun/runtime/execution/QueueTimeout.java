package gatun.runtime.execution;

import gatun.protocol.inference.ModelConfig;
import gatun.protocol.inference.ModelQueuePolicy;
import gatun.protocol.inference.ModelQueuePolicy.TimeoutAction;
import java.util.concurrent.TimeUnit;

/**
 * How long a request may wait for an instance. Where the configuration has a queue policy, it rules: a request may then
 * only shorten the policy's limit, and only if the policy lets it. Without one the request's own wish counts.
 *
 * @param defaultMicros the policy's limit; 0 for none
 * @param mayShorten whether a request's wish counts when it is shorter than the limit
 * @param ruled whether there is a policy
 */
record QueueTimeout(long defaultMicros, boolean mayShorten, boolean ruled) {
    /** What {@code config} says. */
    static QueueTimeout of(ModelConfig config) {
        if (!config.hasDynamicBatching()) {
            return new QueueTimeout(0, true, false);
        }
        ModelQueuePolicy policy = config.getDynamicBatching().getDefaultQueuePolicy();
        // A request that is only delayed by its timeout is never refused for it.
        boolean rejects = policy.getTimeoutAction() == TimeoutAction.REJECT;
        return new QueueTimeout(
                rejects ? policy.getDefaultTimeoutMicroseconds() : 0,
                rejects && policy.getAllowTimeoutOverride(),
                true);
    }

    /**
     * When to give up a request that arrived at {@code arrivedNanos}; 0 for never.
     *
     * @param requestedMicros the request's wish; 0 for none
     */
    long deadlineNanos(long requestedMicros, long arrivedNanos) {
        long micros = defaultMicros;
        if (mayShorten && requestedMicros > 0 && (!ruled || requestedMicros < defaultMicros)) {
            micros = requestedMicros;
        }
        if (micros <= 0) {
            return 0;
        }
        long deadline = arrivedNanos + TimeUnit.MICROSECONDS.toNanos(micros);
        // 0 means never, and a wait of centuries does too.
        return deadline == 0 || deadline - arrivedNanos < 0 ? 0 : deadline;
    }
}
