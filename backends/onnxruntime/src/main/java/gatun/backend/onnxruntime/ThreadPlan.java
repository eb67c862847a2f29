// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.ArrayList;
import java.util.List;

/**
 * The threads of sessions that a model's instances share. One with n threads has n - 1 of its own, and each caller
 * computes too: so that N callers on C cores are C threads in all, it has C - N + 1. {@code alone} is for a run that
 * has the machine to itself, {@code together} for runs side by side, in one session if equal. Batches run in at most
 * {@code parts}. Each of {@code processes} has sessions of its own.
 */
record ThreadPlan(int cores, int instances, int processes, int alone, int together, int parts) {
    /** A model with one instance runs its batches in at most so many parts; with more of them in as many as those. */
    private static final int MOST_PARTS = 8;

    /**
     * A second session, with weights of its own, is made only where a lone run would leave over a quarter of the cores
     * idle, or where one instance divides its batches. {@code isAdaptive}: a run's session may depend on how runs went;
     * {@code isSmall}: one instance's weights may be in memory twice; {@code divides}: requests may run apart.
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
