// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Forms batches of an instance's steps, and knows the result of the last attempt. Guarded by the scheduler's lock. */
final class StepCandidates<T extends PendingRequest> {
    private static final Comparator<PendingRequest> BY_SLOT =
            Comparator.comparingInt(request -> request.step().sequence().slot());

    private final SequencePolicy policy;
    private final BatchPolicy batches;
    private final int[] sizes;
    private final List<T> found = new ArrayList<>();
    private int count;
    private long waitNanos;

    StepCandidates(SequencePolicy policy) {
        this.policy = policy;
        batches = policy.batches();
        sizes = new int[batches.maxBatchSize()];
        Arrays.fill(sizes, 1);
    }

    /** Finds the best batch now; false for none, or if more may come within {@link #waitNanos} and not hurried. */
    boolean form(InstanceSequences instance, boolean hurried, long now) {
        found.clear();
        count = 0;
        waitNanos = Dispatcher.FOREVER;
        long oldest = now;
        boolean blocked = false;
        for (Sequence sequence : instance.ready()) {
            T request = first(sequence);
            oldest = Math.min(oldest, request.submittedNanos);
            if (found.isEmpty() || request.joins(found.getFirst())) {
                found.add(request);
            } else if (policy.strategy() == SequencePolicy.Strategy.OLDEST) {
                blocked = true;
                break;
            }
            if (policy.strategy() == SequencePolicy.Strategy.OLDEST && found.size() == sizes.length) {
                break;
            }
        }
        if (found.isEmpty()) {
            return false;
        }
        count = switch (policy.strategy()) {
            case DIRECT -> hurried || policy.isWorthwhile(instance.ready().size(), now - oldest) ? found.size() : 0;
            case OLDEST -> BatchDecision.decide(batches, sizes, found.size(), blocked || hurried, now - oldest);
        };
        if (count == 0) {
            waitNanos = batches.maxQueueDelayNanos() - (now - oldest);
        }
        return count > 0;
    }

    @SuppressWarnings("unchecked") // only a dispatcher of T puts requests in
    private T first(Sequence sequence) {
        PendingRequest request = sequence.waiting.first();
        if (request == null) {
            throw new AssertionError("sequence " + sequence.id() + " is ready and has no step");
        }
        return (T) request;
    }

    /** Moves the formed batch to {@code batch}, by slot where the strategy keeps steps in place. */
    void moveTo(List<T> batch) {
        batch.addAll(found.subList(0, count));
        forget();
        if (policy.strategy() == SequencePolicy.Strategy.DIRECT) {
            batch.sort(BY_SLOT);
        }
    }

    /** Forgets the batch that was formed, so that nothing of its requests is kept alive. */
    void forget() {
        found.clear();
        count = 0;
    }

    /** How long an instance without a batch may sleep; {@link Dispatcher#FOREVER} for lack of steps. */
    long waitNanos() {
        return waitNanos;
    }
}
