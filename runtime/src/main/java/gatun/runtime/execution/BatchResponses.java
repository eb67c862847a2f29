// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.statistics.ResponseTable;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The responses of a batch, any number for decoupled models, each may fail. Used by the instance's thread only. */
final class BatchResponses {
    private final Run run;
    private final ScatteredOutputs outputs;
    private final List<InferenceTicket> tickets;
    private final Predicate<InferenceTicket> asked;

    /** The outcomes of single responses; null unless the model is decoupled. */
    private final @Nullable ResponseTable table;

    private int sent;

    /** @param tickets the requests of each run, changed by its owner; {@code table} is null unless decoupled */
    BatchResponses(
            Run run,
            ScatteredOutputs outputs,
            List<InferenceTicket> tickets,
            Predicate<InferenceTicket> asked,
            @Nullable ResponseTable table) {
        this.run = run;
        this.outputs = outputs;
        this.tickets = tickets;
        this.asked = asked;
        this.table = table;
    }

    /** Whether the model answers with any number of responses. */
    boolean areMany() {
        return table != null;
    }

    void begin() {
        if (table != null) {
            for (InferenceTicket ticket : tickets) {
                if (asked.test(ticket)) {
                    ticket.progress().begin(run.startedNanos());
                }
            }
        }
    }

    /** Sends each request its rows when the model is decoupled; otherwise only counts. */
    void send() {
        if (table == null) {
            sent++;
            return;
        }
        long madeNanos = System.nanoTime();
        outputs.shareMade();
        GatunException failure = null;
        boolean wanted = false;
        for (InferenceTicket ticket : tickets) {
            if (asked.test(ticket)) {
                if (!ticket.hasFailed()) {
                    send(ticket, table, madeNanos, false);
                }
                wanted |= !ticket.hasFailed();
                failure = ticket.failure().orElse(failure);
            }
        }
        outputs.close();
        if (!wanted && failure != null) {
            throw run.refuse(failure);
        }
    }

    /** Shares the outputs out and settles regions. Throws when the backend did not give an output. */
    void finish() {
        if (table == null) {
            respondOnce();
        } else {
            sendLast(table);
        }
    }

    private void respondOnce() {
        if (sent > 1) {
            throw new GatunException(ErrorCode.INTERNAL, "expected a single response, got " + sent);
        }
        if (isAnyDone()) {
            outputs.shareOut();
        }
        for (InferenceTicket ticket : tickets) {
            if (isDone(ticket)) {
                settle(ticket);
            }
        }
    }

    private boolean isAnyDone() {
        for (InferenceTicket ticket : tickets) {
            if (isDone(ticket)) {
                return true;
            }
        }
        return false;
    }

    /** Whether this run ends a request that somebody waits for, by a response. */
    private boolean isDone(InferenceTicket ticket) {
        return asked.test(ticket) && !ticket.hasFailed() && !ticket.runsAgain();
    }

    /** Ends a request's use of its regions, which can fail it. */
    private void settle(InferenceTicket ticket) {
        try {
            ticket.settle();
            run.markAnswered(ticket);
        } catch (GatunException broken) {
            ticket.fail(broken);
        }
    }

    /** Sends the outputs that the backend made and did not send: the last response of the requests that end here. */
    private void sendLast(ResponseTable counters) {
        long madeNanos = System.nanoTime();
        outputs.shareMade();
        for (InferenceTicket ticket : tickets) {
            if (!asked.test(ticket) || ticket.hasFailed()) {
                continue;
            }
            boolean sentLast = ticket.isAnythingMade() && send(ticket, counters, madeNanos, !ticket.runsAgain());
            if (isDone(ticket)) {
                if (!sentLast) {
                    ticket.progress().ended(counters);
                }
                run.markAnswered(ticket);
            }
        }
    }

    /** Sends a request its outputs; false when it is left out, or failed. */
    private static boolean send(InferenceTicket ticket, ResponseTable counters, long madeNanos, boolean last) {
        try {
            ticket.settle();
            boolean sentNow = ticket.send(last);
            if (sentNow) {
                ticket.progress().sent(counters, madeNanos);
            }
            return sentNow;
        } catch (GatunException e) {
            ticket.progress().brokenOff(counters, ticket.isUnwanted());
            ticket.fail(e);
            return false;
        }
    }

    /** Notes that the run failed, or was told to stop. */
    void breakOff() {
        if (table == null) {
            return;
        }
        for (InferenceTicket ticket : tickets) {
            if (asked.test(ticket) && !ticket.hasFailed()) {
                ticket.progress().brokenOff(table, ticket.isUnwanted());
            }
        }
    }

    void clear() {
        sent = 0;
    }
}
