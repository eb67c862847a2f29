// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.time.Duration;

/**
 * How often, and after which pauses, a failed call is made again. Only these are safe and made again: a connection that
 * was refused, a response that the server cannot do it now, and, unless it belongs to a sequence, a call whose
 * connection broke. The pauses grow by the factor 2 and are shortened by chance, by up to a half; none goes beyond the
 * deadline.
 *
 * @param attempts how often a call is made at most, the first included; 1 for no retries
 * @param firstPause the longest first pause
 * @param longestPause no pause is longer
 */
public record Retries(int attempts, Duration firstPause, Duration longestPause) {
    /** Each call is made once. */
    public static final Retries NONE = new Retries(1, Duration.ZERO, Duration.ZERO);

    /** Three attempts, with pauses of up to 50 ms and 100 ms. */
    public static final Retries STANDARD = new Retries(3, Duration.ofMillis(50), Duration.ofSeconds(1));

    /** Checks the numbers. */
    public Retries {
        if (attempts < 1) {
            throw new IllegalArgumentException(attempts + " attempts: expected at least 1");
        }
        if (firstPause.isNegative() || longestPause.compareTo(firstPause) < 0) {
            throw new IllegalArgumentException("a first pause of " + firstPause + " and a longest of " + longestPause
                    + ": expected no negative ones, and the first not the longer");
        }
    }
}
