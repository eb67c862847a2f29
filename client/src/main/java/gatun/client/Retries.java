// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.time.Duration;
import java.util.Optional;

/**
 * How often, and after which pauses, a failed call is made again. Only these are safe and made again: a connection that
 * was refused, a response that the server cannot do it now, and, unless it belongs to a sequence, a call whose
 * connection broke. The pauses grow by the factor 2 and are shortened by chance, by up to a half; none goes beyond the
 * deadline.
 *
 * @param attempts how often a call is made at most, the first included; 1 for no retries
 * @param firstPause the longest first pause
 * @param longestPause no pause is longer
 * @param hedgeAfter how long a request waits for its response before another server is asked, too, and the response that
 *     comes first is taken; empty for never. Only where there are several servers, only requests that may be made twice,
 *     and no more than a tenth of them
 */
public record Retries(int attempts, Duration firstPause, Duration longestPause, Optional<Duration> hedgeAfter) {
    /** Each call is made once. */
    public static final Retries NONE = new Retries(1, Duration.ZERO, Duration.ZERO);

    /** Three attempts, with pauses of up to 50 ms and 100 ms. */
    public static final Retries STANDARD = new Retries(3, Duration.ofMillis(50), Duration.ofSeconds(1));

    /** Retries without hedged requests. */
    public Retries(int attempts, Duration firstPause, Duration longestPause) {
        this(attempts, firstPause, longestPause, Optional.empty());
    }

    /** With another server asked after that time, such as that in which 95 of 100 responses come. */
    public Retries withHedgeAfter(Duration time) {
        return new Retries(attempts, firstPause, longestPause, Optional.of(time));
    }

    /** Checks the numbers. */
    public Retries {
        if (attempts < 1) {
            throw new IllegalArgumentException(attempts + " attempts: expected at least 1");
        }
        if (firstPause.isNegative() || longestPause.compareTo(firstPause) < 0) {
            throw new IllegalArgumentException("a first pause of " + firstPause + " and a longest of " + longestPause
                    + ": expected no negative ones, and the first not the longer");
        }
        if (hedgeAfter.isPresent() && !hedgeAfter.get().isPositive()) {
            throw new IllegalArgumentException(
                    "another server asked after " + hedgeAfter.get() + ": expected more than nothing");
        }
    }
}
