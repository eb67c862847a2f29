// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A decoupled member's responses in the steps behind it, in its order. Limited in number, so that a member faster than
 * those steps, or the client, does not fill the memory. Used under the lock of the request's {@link RunThreads}.
 */
final class MemberResponses {
    private final RunThreads threads;
    private final int capacity;
    private final ArrayDeque<EnsembleStepExecutor> open = new ArrayDeque<>();
    private boolean refusing;
    private boolean ended;
    private @Nullable GatunException failure;

    /** @param capacity how many may be on their way at a time */
    MemberResponses(RunThreads threads, int capacity) {
        this.threads = threads;
        this.capacity = capacity;
    }

    /** Waits while as many are on their way as may be, or until no more are wanted. */
    void awaitRoom() {
        threads.awaitUntil(() -> open.size() < capacity || refusing);
    }

    void refuse() {
        refusing = true;
        threads.changed();
    }

    boolean isRefusing() {
        return refusing;
    }

    void add(EnsembleStepExecutor steps) {
        open.add(steps);
        threads.changed();
    }

    /** Notes that the member has given its last one. */
    void end() {
        ended = true;
        threads.changed();
    }

    /** Notes that the member gives no more because it failed, unless no more were wanted. */
    void fail(GatunException reason) {
        if (!refusing) {
            failure = reason;
            refuse();
        }
    }

    /** The first that was not delivered yet; empty when there is none now. */
    Optional<EnsembleStepExecutor> first() {
        return Optional.ofNullable(open.peek());
    }

    /** Whether the first is the last: the member has ended, and no other is on its way. */
    boolean isLast() {
        return ended && open.size() == 1 && failure == null;
    }

    /** Forgets the first, which was delivered: one more may come. */
    void delivered() {
        open.remove();
        threads.changed();
    }

    Collection<EnsembleStepExecutor> open() {
        return open;
    }

    /** Whether there is a first, or there will not be another. Throws the member's failure when none is left. */
    boolean isAnyOrEnd() {
        if (open.isEmpty() && failure != null) {
            throw failure;
        }
        return ended || !open.isEmpty();
    }
}
