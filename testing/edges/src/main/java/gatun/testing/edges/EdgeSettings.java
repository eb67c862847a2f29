// SPDX-License-Identifier: Apache-2.0
package gatun.testing.edges;

import gatun.http.HttpSettings;
import gatun.http.Patience;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.HeaderRules;
import java.util.Set;

/**
 * How edges under test are set up.
 *
 * @param protocol what protocols obey
 * @param http how HTTP is spoken
 */
public record EdgeSettings(ProtocolSettings protocol, HttpSettings http) {
    private static final long MAX_INPUT_BYTES = 1 << 20;

    /** Requests up to a mebibyte, shared memory, nothing restricted. */
    public static EdgeSettings usual() {
        return new EdgeSettings(
                ProtocolSettings.standard().withMaxInputByteSize(MAX_INPUT_BYTES), HttpSettings.STANDARD);
    }

    /** The same, with the same rules for headers and for metadata. */
    public EdgeSettings withHeaders(HeaderRules rules) {
        return new EdgeSettings(protocol.withHeaders(rules, rules), http);
    }

    /** The same, with another choice for shared memory. */
    public EdgeSettings withClientSharedMemory(boolean allowed) {
        return new EdgeSettings(protocol.withClientSharedMemory(allowed), http);
    }

    /** The same, with other patience for slow clients. */
    public EdgeSettings withPatience(Patience patience) {
        return new EdgeSettings(protocol, http.withPatience(patience));
    }

    /** The same, with other pages let in. */
    public EdgeSettings withAllowedOrigins(Set<String> origins) {
        return new EdgeSettings(protocol, http.withAllowedOrigins(origins));
    }
}
