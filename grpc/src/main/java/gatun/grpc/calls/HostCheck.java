// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.headers.RequestHead;
import gatun.runtime.access.HostNames;
import gatun.runtime.access.PeerLocation;
import java.net.SocketAddress;
import java.util.Optional;

/** Checks that calls are for this server, where a browser here could send them. For the reading thread. */
public final class HostCheck {
    private final HostNames names;
    private final boolean checks;

    /** The host of the last call, which most calls repeat; empty before the first. */
    private String accepted = "";

    /** Checks the calls of the client at {@code remote}, which is at {@code location}. */
    public HostCheck(HostNames names, SocketAddress remote, PeerLocation location) {
        this.names = names;
        this.checks = names.mustCheck(remote, location);
    }

    /** The host that a call is for, where it is none of this server's; a call that names no host is for any. */
    Optional<String> foreignHost(RequestHead head) {
        if (!checks) {
            return Optional.empty();
        }
        for (String host : head.route().hosts()) {
            boolean repeated = !accepted.isEmpty() && host.equals(accepted);
            if (!repeated && !names.accept(host)) {
                return Optional.of(host);
            }
            accepted = host;
        }
        return Optional.empty();
    }
}
