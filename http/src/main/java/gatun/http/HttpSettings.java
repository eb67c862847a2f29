// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import java.util.Set;

/**
 * The settings of HTTP that all protocols share.
 *
 * @param timeouts how long clients are waited for
 * @param allowedOrigins the other origins whose pages may read responses in a browser; {@code *} for any
 */
public record HttpSettings(HttpTimeouts timeouts, Set<String> allowedOrigins) {
    /** The usual timeouts, and no other origins. */
    public static final HttpSettings STANDARD = new HttpSettings(HttpTimeouts.STANDARD, Set.of());

    /** Keeps a copy of the origins. */
    public HttpSettings {
        allowedOrigins = Set.copyOf(allowedOrigins);
    }

    /** The same with other timeouts for slow clients. */
    public HttpSettings withTimeouts(HttpTimeouts other) {
        return new HttpSettings(other, allowedOrigins);
    }

    /** The same with other allowed origins. */
    public HttpSettings withAllowedOrigins(Set<String> other) {
        return new HttpSettings(timeouts, other);
    }
}
