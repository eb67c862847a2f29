// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Accepted tickets that must end in the order in which they came. Guarded by the scheduler's lock. */
final class CompletionOrder {
    private final Set<Ticket> tickets = new LinkedHashSet<>();

    /** Has a ticket that was accepted end after all that were before. */
    void add(Ticket ticket) {
        tickets.add(ticket);
    }

    /** Forgets a ticket that ended while it waited. Later ones wait too, so that none has run yet. */
    void remove(Ticket ticket) {
        tickets.remove(ticket);
    }

    /** Completes the tickets of a batch that has run, but for those that others must precede; and those freed by it. */
    void finish(List<? extends Ticket> batch) {
        batch.forEach(Ticket::finish);
        Iterator<Ticket> waiting = tickets.iterator();
        while (waiting.hasNext()) {
            Ticket next = waiting.next();
            if (!next.isFinished()) {
                return;
            }
            waiting.remove();
            next.complete();
        }
    }
}
