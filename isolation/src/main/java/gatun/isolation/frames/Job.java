// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.frames;

/** What an instance is to do when it has the turn. */
public enum Job {
    /** Run once, for all requests together. */
    EXECUTE,
    /** Run once for several requests, each with tensors of its own. */
    EXECUTE_APART,
    /** Pay the costs of a first run. */
    WARM_UP,
    /** Give back memory of past runs. */
    TRIM_MEMORY;

    private static final Job[] ALL = values();

    /** The job of that number. */
    public static Job of(int number) {
        return ALL[number];
    }

    /** Its number in frames. */
    @SuppressWarnings("EnumOrdinal") // both sides are of one build
    public int number() {
        return ordinal();
    }
}
