// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.limits.LimitSettings;
import java.util.Objects;
import java.util.Set;

/**
 * The limits and rights of clients.
 *
 * @param access who may ask for what
 * @param limits how much they may ask for
 * @param connections how many connections they may have open
 * @param hosts the names of the server that those on its machine may address it by, besides the machine's own; {@code *}
 *     for any
 */
public record ClientSettings(
        AccessSettings access, LimitSettings limits, ConnectionLimits connections, Set<String> hosts) {
    /** Keeps a copy of the names. */
    public ClientSettings {
        hosts = Set.copyOf(hosts);
    }

    /** Everything is open to everybody, as far as the standard limits let them. */
    public static ClientSettings standard() {
        return new ClientSettings(AccessSettings.OPEN, LimitSettings.standard(), ConnectionLimits.STANDARD, Set.of());
    }

    /**
     * The rules for access, and for the request headers that are forwarded to models.
     *
     * @param http the rules for HTTP requests
     * @param grpc the rules for gRPC calls
     */
    public record AccessSettings(HeaderRules http, HeaderRules grpc) {
        /** Everything is open to everybody, and models learn of no header. */
        public static final AccessSettings OPEN = new AccessSettings(HeaderRules.none(), HeaderRules.none());

        /** Checks that nothing is missing. */
        public AccessSettings {
            Objects.requireNonNull(http, "http");
            Objects.requireNonNull(grpc, "grpc");
        }
    }
}
