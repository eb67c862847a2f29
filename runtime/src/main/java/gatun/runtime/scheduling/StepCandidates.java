// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Forms batches of the steps that could run on an instance now, and knows what the last attempt found. Guarded by the
 * scheduler's lock.
 *
 * @param <T> what is to be run
 */
final class StepCandidates<T extends Ticket> {
    private static final Comparator<Ticket> BY_SLOT =
            Comparator.comparingInt(ticket -> ticket.step().sequence().slot());

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

    /**
     * Finds the best batch of an instance's steps; returns false when there is none, or when more steps may come before
     * {@link #waitNanos} are over. {@code hurried} says whether a batch is not kept for more steps.
     */
    boolean form(InstanceSequences instance, boolean hurried, long now) {
        found.clear();
        count = 0;
        waitNanos = Dispatcher.FOREVER;
        long oldest = now;
        boolean blocked = false;
        for (Sequence sequence : instance.ready()) {
            T ticket = first(sequence);
            oldest = Math.min(oldest, ticket.submittedNanos);
            if (found.isEmpty() || ticket.joins(found.getFirst())) {
                found.add(ticket);
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

    @SuppressWarnings("unchecked") // only a dispatcher of T puts tickets in
    private T first(Sequence sequence) {
        Ticket ticket = sequence.waiting.first();
        if (ticket == null) {
            throw new AssertionError("sequence " + sequence.id() + " is ready and has no step");
        }
        return (T) ticket;
    }

    /**
     * Adds the batch that was formed to {@code batch}, by slot where the strategy keeps steps in place, and forgets it.
     */
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
