// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import gatun.runtime.access.HostNames;
import java.util.Set;

/**
 * The settings of HTTP that all protocols share. {@code allowedOrigins} are other origins whose pages may read
 * responses, {@code *} for any; {@code hosts} are this server's names for clients on its machine.
 */
public record HttpSettings(HttpTimeouts timeouts, Set<String> allowedOrigins, HostNames hosts) {
    /** The usual timeouts, no other origins, and the machine's own names. */
    public static final HttpSettings STANDARD =
            new HttpSettings(HttpTimeouts.STANDARD, Set.of(), new HostNames(Set.of()));

    /** Keeps a copy of the origins. */
    public HttpSettings {
        allowedOrigins = Set.copyOf(allowedOrigins);
    }

    /** The same with other timeouts for slow clients. */
    public HttpSettings withTimeouts(HttpTimeouts other) {
        return new HttpSettings(other, allowedOrigins, hosts);
    }

    /** The same with other allowed origins. */
    public HttpSettings withAllowedOrigins(Set<String> other) {
        return new HttpSettings(timeouts, other, hosts);
    }

    /** The same with other names of this server. */
    public HttpSettings withHosts(HostNames names) {
        return new HttpSettings(timeouts, allowedOrigins, names);
    }
}
