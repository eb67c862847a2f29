// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.limits.LimitSettings;
import java.util.Objects;
import java.util.Set;

/**
 * The limits and rights of clients. {@code hosts} are the names by which programs on this machine may address the
 * server, besides the machine's own; {@code *} for any.
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

    /** The rules for access, and for the request headers that are forwarded to models. */
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
