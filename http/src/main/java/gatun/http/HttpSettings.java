// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import java.util.Set;

/**
 * How HTTP is spoken, whatever the protocol.
 *
 * @param timeouts how long clients are waited for
 * @param allowedOrigins pages of which other servers a browser lets read responses, by their origins; {@code *} for any
 */
public record HttpSettings(HttpTimeouts timeouts, Set<String> allowedOrigins) {
    /** The usual timeouts, and no pages of other servers. */
    public static final HttpSettings STANDARD = new HttpSettings(HttpTimeouts.STANDARD, Set.of());

    /** Keeps a copy of the origins. */
    public HttpSettings {
        allowedOrigins = Set.copyOf(allowedOrigins);
    }

    /** The same with other timeouts for slow clients. */
    public HttpSettings withTimeouts(HttpTimeouts other) {
        return new HttpSettings(other, allowedOrigins);
    }

    /** The same with other pages let in. */
    public HttpSettings withAllowedOrigins(Set<String> other) {
        return new HttpSettings(timeouts, other);
    }
}
