// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

/** Trust in a guess: agreeing cases earn it, and each miss doubles how many it takes. Not thread-safe. */
public final class Trust {
    private final int most;
    private int needed;
    private int missing;

    /**
     * No trust yet.
     *
     * @param first how many cases must agree at first
     * @param again how many must after one that disagreed before there was trust; twice as many after the first that
     *     disagreed later
     * @param most how many must at most
     */
    public Trust(int first, int again, int most) {
        this.most = most;
        needed = again;
        missing = first;
    }

    /** Whether the guess is trusted now. */
    public boolean isEarned() {
        return missing == 0;
    }

    /** A case agreed with the guess. */
    public void confirm() {
        if (missing > 0) {
            missing--;
        }
    }

    /** A case disagreed with the guess. */
    public void disprove() {
        if (missing == 0) {
            needed = Math.min(2 * needed, most);
        }
        missing = needed;
    }
}
