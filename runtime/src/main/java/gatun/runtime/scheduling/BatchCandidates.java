// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.function.Consumer;

/** Forms batches of the requests whose turn it is, and knows the last result. Guarded by the scheduler's lock. */
final class BatchCandidates<T extends PendingRequest> {
    private final BatchPolicy policy;
    private final PendingQueue<T> queue;
    private final AdaptiveBatchDelay gathering;
    private final Consumer<PendingRequest> overdue;
    private final int[] sizes;
    private long waitNanos;

    /** @param overdue takes a request, whose time to wait is over, out of the queue or puts it back */
    BatchCandidates(
            BatchPolicy policy, PendingQueue<T> queue, AdaptiveBatchDelay gathering, Consumer<PendingRequest> overdue) {
        this.policy = policy;
        this.queue = queue;
        this.gathering = gathering;
        this.overdue = overdue;
        sizes = new int[policy.maxBatchSize() + 1];
    }

    /**
     * How many requests to send now, or {@link BatchDecision#WAIT} when there are none or more may come within {@link
     * #waitNanos}; overdue ones end or are put back on the way. A {@code hurried} batch waits for no more requests;
     * {@code promised} requests have an instance on its way, and are left out unless this is set.
     */
    int form(boolean hurried, boolean promised, long now) {
        int count = 0;
        int total = 0;
        T first = null;
        T seen = null;
        long oldest = now;
        boolean blocked = hurried;
        for (T request = queue.first(); request != null; request = seen == null ? queue.first() : queue.after(seen)) {
            if (request.isOverdue(now)) {
                overdue.accept(request);
                continue;
            }
            seen = request;
            if (request.promised && !promised) {
                continue;
            }
            if (first == null) {
                first = request;
            } else if (!request.joins(first)) {
                blocked = true;
                break;
            }
            total += request.size();
            oldest = Math.min(oldest, request.submittedNanos);
            sizes[count++] = request.size();
            if (total >= policy.maxBatchSize()) {
                break;
            }
        }
        if (count == 0) {
            // An awake instance stays for those who are expected, so that none has to be woken to keep the time.
            long keepNanos = promised ? gathering.comingNanos(now) : 0;
            waitNanos = keepNanos > 0 ? keepNanos : Dispatcher.FOREVER;
            return BatchDecision.WAIT;
        }
        if (policy.maxBatchSize() == 0) {
            return 1;
        }
        long waitedNanos = now - oldest;
        int sent = BatchDecision.decide(policy, sizes, count, blocked, waitedNanos);
        long keepNanos = sent < count || blocked || policy.prefers(total) ? 0 : gathering.keepNanos(total, now);
        waitNanos = keepNanos > 0 ? keepNanos : policy.maxQueueDelayNanos() - waitedNanos;
        return keepNanos > 0 ? BatchDecision.WAIT : sent;
    }

    /** How long the requests of the last attempt may wait for more; {@link Dispatcher#FOREVER} when there were none. */
    long waitNanos() {
        return waitNanos;
    }
}
