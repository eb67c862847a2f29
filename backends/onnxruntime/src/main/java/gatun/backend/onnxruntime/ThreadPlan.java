// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.ArrayList;
import java.util.List;

/**
 * How many threads the sessions have that the instances of a model share. A session with n threads has n - 1 of its own,
 * and each thread that calls it computes too; the session shares their work out among all of these. So that N callers on C
 * cores are C threads in all, theirs has C - N + 1.
 *
 * @param cores those that can compute at a time
 * @param instances those of the model on the processor
 * @param processes how many processes these are in, each with sessions of its own
 * @param alone threads of the session for a run that has the machine to itself
 * @param together threads of the session for runs side by side, of several instances or of parts of a batch; where that
 *     is as many as {@code alone}, it is the same session
 * @param parts how many parts of a batch run side by side at most; 1 where batches are not divided
 */
record ThreadPlan(int cores, int instances, int processes, int alone, int together, int parts) {
    /** A model with one instance runs its batches in at most so many parts; with more of them in as many as those. */
    private static final int MOST_PARTS = 8;

    /**
     * The threads for a model whose parameters do not say them. There are two sessions, each with weights of its own,
     * only where a lone run would leave more than a quarter of the cores idle without, or where one instance divides its
     * batches.
     *
     * @param isAdaptive whether a run's session may depend on how such runs went; otherwise there is one
     * @param isSmall whether the weights of one instance may be in memory twice
     * @param divides whether the requests of a batch may be run apart
     */
    static ThreadPlan of(
            int cores, int instances, int processes, boolean isAdaptive, boolean isSmall, boolean divides) {
        boolean isSingle = instances == 1;
        int ofProcess = Math.max(1, cores / processes);
        int callers = Math.min(ofProcess, isSingle && isAdaptive && isSmall ? MOST_PARTS : instances / processes);
        int together = ofProcess - callers + 1;
        if (!isAdaptive) {
            return new ThreadPlan(cores, instances, processes, together, together, 1);
        }
        boolean isNarrow = 4 * together < 3 * cores;
        if (isSingle && !divides && !isNarrow) {
            together = cores;
        }
        int alone = isSingle || isNarrow ? cores : together;
        return new ThreadPlan(cores, instances, processes, alone, together, divides ? cores - together + 1 : 1);
    }

    /** Describes for a reader what was chosen; {@code idleness} says how threads wait for work. */
    List<String> text(String idleness) {
        String threads = "threads of a run: " + alone
                + (alone == together || instances == 1 ? "" : " alone, " + together + " beside others") + ", of "
                + cores
                + (cores == 1 ? " core for " : " cores for ") + instances
                + (instances == 1 ? " instance" : " instances")
                + (together == 1 || instances == processes ? "" : ", which share them");
        if (alone == 1) {
            return List.of(threads);
        }
        List<String> ways = new ArrayList<>();
        if (alone != together) {
            ways.add("on " + together + (together == 1 ? " thread" : " threads"));
        }
        if (parts > 1) {
            ways.add("in up to " + parts + " parts, where it is a batch of several requests");
        }
        String waiting = threads + "; " + idleness;
        return ways.isEmpty()
                ? List.of(waiting)
                : List.of(
                        waiting,
                        "a run alone may also be made " + String.join(", or ", ways)
                                + ": whichever was fastest for runs of its size");
    }
}
