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
    private final List<PendingInference> requests;
    private final Predicate<PendingInference> asked;

    /** The outcomes of single responses; null unless the model is decoupled. */
    private final @Nullable ResponseTable table;

    private int sent;

    /** @param requests the requests of each run, changed by its owner; {@code table} is null unless decoupled */
    BatchResponses(
            Run run,
            ScatteredOutputs outputs,
            List<PendingInference> requests,
            Predicate<PendingInference> asked,
            @Nullable ResponseTable table) {
        this.run = run;
        this.outputs = outputs;
        this.requests = requests;
        this.asked = asked;
        this.table = table;
    }

    /** Whether the model answers with any number of responses. */
    boolean areMany() {
        return table != null;
    }

    void begin() {
        if (table != null) {
            for (PendingInference pending : requests) {
                if (asked.test(pending)) {
                    pending.progress().begin(run.startedNanos());
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
        for (PendingInference pending : requests) {
            if (asked.test(pending)) {
                if (!pending.hasFailed()) {
                    send(pending, table, madeNanos, false);
                }
                wanted |= !pending.hasFailed();
                failure = pending.failure().orElse(failure);
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
        for (PendingInference pending : requests) {
            if (isDone(pending)) {
                settle(pending);
            }
        }
    }

    private boolean isAnyDone() {
        for (PendingInference pending : requests) {
            if (isDone(pending)) {
                return true;
            }
        }
        return false;
    }

    /** Whether this run ends a request that somebody waits for, by a response. */
    private boolean isDone(PendingInference pending) {
        return asked.test(pending) && !pending.hasFailed() && !pending.runsAgain();
    }

    /** Ends a request's use of its regions, which can fail it. */
    private void settle(PendingInference pending) {
        try {
            pending.settle();
            run.markAnswered(pending);
        } catch (GatunException broken) {
            pending.fail(broken);
        }
    }

    /** Sends the outputs that the backend made and did not send: the last response of the requests that end here. */
    private void sendLast(ResponseTable counters) {
        long madeNanos = System.nanoTime();
        outputs.shareMade();
        for (PendingInference pending : requests) {
            if (!asked.test(pending) || pending.hasFailed()) {
                continue;
            }
            boolean sentLast = pending.isAnythingMade() && send(pending, counters, madeNanos, !pending.runsAgain());
            if (isDone(pending)) {
                if (!sentLast) {
                    pending.progress().ended(counters);
                }
                run.markAnswered(pending);
            }
        }
    }

    /** Sends a request its outputs; false when it is left out, or failed. */
    private static boolean send(PendingInference pending, ResponseTable counters, long madeNanos, boolean last) {
        try {
            pending.settle();
            boolean sentNow = pending.send(last);
            if (sentNow) {
                pending.progress().sent(counters, madeNanos);
            }
            return sentNow;
        } catch (GatunException e) {
            pending.progress().brokenOff(counters, pending.cancelled());
            pending.fail(e);
            return false;
        }
    }

    /** Notes that the run failed, or was told to stop. */
    void breakOff() {
        if (table == null) {
            return;
        }
        for (PendingInference pending : requests) {
            if (asked.test(pending) && !pending.hasFailed()) {
                pending.progress().brokenOff(table, pending.cancelled());
            }
        }
    }

    void clear() {
        sent = 0;
    }
}
