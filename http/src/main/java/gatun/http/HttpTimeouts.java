// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import java.time.Duration;

/**
 * How long clients are waited for.
 *
 * @param idleTimeout a connection is closed when its client has sent or taken nothing for so long while it should, or
 *     has not sent the whole head of a request in that time
 * @param bodyByteRate so many bytes a second a client has to send of a body, in the long run: where it sends fewer, the
 *     time that it takes for them counts as if it had sent nothing; 0 for any number
 */
public record HttpTimeouts(Duration idleTimeout, long bodyByteRate) {
    /** Five minutes of silence, and 240 bytes a second: less than any client that means well sends. */
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
