// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Accepted requests that must end in the order in which they came. Guarded by the scheduler's lock. */
final class CompletionOrder {
    private final Set<PendingRequest> requests = new LinkedHashSet<>();

    /** Has a request that was accepted end after all that were before. */
    void add(PendingRequest request) {
        requests.add(request);
    }

    /** Forgets a request that ended while it waited. Later ones wait too, so that none has run yet. */
    void remove(PendingRequest request) {
        requests.remove(request);
    }

    /** Completes the requests of a batch that has run, unless others must precede; and those freed by it. */
    void finish(List<? extends PendingRequest> batch) {
        batch.forEach(PendingRequest::finish);
        Iterator<PendingRequest> waiting = requests.iterator();
        while (waiting.hasNext()) {
            PendingRequest next = waiting.next();
            if (!next.isFinished()) {
                return;
            }
            waiting.remove();
            next.complete();
        }
    }
}
