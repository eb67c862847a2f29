// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import java.time.Duration;

/**
 * The timeouts for slow clients.
 *
 * @param idleTimeout a connection is closed when its client should send or take something and has not done so for this
 *     long, or has not sent the whole head of a request in this time
 * @param bodyByteRate the bytes a second that a client has to send of a body, in the long run: where it sends fewer,
 *     the time that it takes for them counts as if it had sent nothing; 0 for any number
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
