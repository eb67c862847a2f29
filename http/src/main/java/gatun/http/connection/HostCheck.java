// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.runtime.access.HostNames;
import gatun.runtime.access.PeerLocation;
import io.helidon.http.Status;
import java.net.SocketAddress;
import java.util.Locale;
import java.util.Optional;

/** Refuses requests for other hosts, where a browser on this machine could send them. Not thread-safe. */
final class HostCheck {
    private static final Status MISDIRECTED = Status.create(421, "Misdirected Request");

    private final HostNames names;
    private final boolean checks;

    /** The host of the last request, in lower case, which most requests repeat; empty before the first. */
    private String accepted = "";

    HostCheck(HostNames names, SocketAddress remote, PeerLocation location) {
        this.names = names;
        this.checks = names.mustCheck(remote, location);
    }

    /** Whether the request was refused; it has been answered then. */
    boolean refused(Exchange exchange) {
        if (!checks || (!accepted.isEmpty() && exchange.isFor(accepted))) {
            return false;
        }
        Optional<String> host = exchange.host();
        if (host.isEmpty()) {
            return false; // of HTTP/1.0, which no browser speaks
        }
        if (names.accept(host.get())) {
            accepted = host.get().toLowerCase(Locale.ROOT);
            return false;
        }
        exchange.answerFailure(MISDIRECTED, HostNames.refusal(host.get()));
        return true;
    }

    /** Whether requests of pages may be for other servers, by names that {@link #refused} lets pass. */
    boolean checksOrigins() {
        return !checks && !names.acceptAny();
    }

    boolean isOwn(String authority) {
        return names.accept(authority);
    }
}
