// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import java.time.Duration;

/**
 * Timeouts for slow clients. A connection is closed when its client should send or take something and has not for
 * {@code idleTimeout}, or has not sent a head in it. {@code bodyByteRate} is the bytes a second to send of a body in
 * the long run: below it, time counts as if nothing had been sent; 0 for any number.
 */
public record HttpTimeouts(Duration idleTimeout, long bodyByteRate) {
    /** Five minutes of silence, and 240 bytes a second: less than any well-meaning client sends. */
    public static final HttpTimeouts STANDARD = new HttpTimeouts(Duration.ofMinutes(5), 240);

    /** Checks both. */
    public HttpTimeouts {
        if (idleTimeout.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("the idle timeout is " + idleTimeout + ": expected at least 1 ms");
        }
        if (bodyByteRate < 0) {
            throw new IllegalArgumentException(
                    "the least rate of bodies is " + bodyByteRate + " bytes a second: expected 0 or more");
        }
    }
}
