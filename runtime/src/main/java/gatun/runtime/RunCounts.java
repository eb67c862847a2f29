// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * Where a model's runs were since it was loaded.
 *
 * @param onRequestThreads runs on the threads that brought their requests
 * @param onInstanceThreads runs on the threads of instances
 */
public record RunCounts(long onRequestThreads, long onInstanceThreads) {
    /** None yet. */
    public static final RunCounts NONE = new RunCounts(0, 0);

    /** All of them. */
    public long total() {
        return onRequestThreads + onInstanceThreads;
    }

    /** The share of each in a line for people, such as {@code threads: 98 % of runs on the threads of their requests}. */
    public String text() {
        return "threads: " + 100 * onRequestThreads / Math.max(1, total())
                + " % of runs on the threads of their requests";
    }
}
