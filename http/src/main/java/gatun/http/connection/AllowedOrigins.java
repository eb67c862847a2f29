// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.runtime.access.HostNames;
import gatun.runtime.access.PeerLocation;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import java.net.SocketAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Other origins ({@code https://console.example}, or {@code *}) whose pages may read responses in a browser. */
public record AllowedOrigins(Set<String> origins) {
    private static final String ANY = "*";

    /** Keeps a copy. */
    public AllowedOrigins {
        origins = Set.copyOf(origins);
    }

    /** None. */
    public static AllowedOrigins none() {
        return new AllowedOrigins(Set.of());
    }

    boolean isNone() {
        return origins.isEmpty();
    }

    /** Whether pages of {@code origin} are let in; never those of an origin that could end a header's line. */
    boolean contain(String origin) {
        boolean plain = origin.chars().allMatch(c -> c > ' ' && c < 0x7F);
        return plain && !origin.isEmpty() && (origins.contains(ANY) || origins.contains(origin));
    }

    /** The page that a request is from, by {@code Origin} and {@code Sec-Fetch-Site}; {@code secure} if over TLS. */
    record RequestOrigin(IncomingRequest request, HostCheck hosts, boolean secure) {
        private static final HeaderName FETCH_SITE = HeaderNames.create("Sec-Fetch-Site");
        private static final Pattern OF_WEB_SERVER = Pattern.compile("https?://(.+)", Pattern.CASE_INSENSITIVE);
        private static final String SECURE = "https:";

        /** Whether it is a page of another origin. A request without both headers is not from a page. */
        boolean isForeign() {
            Optional<String> site = request.first(FETCH_SITE);
            if (site.isPresent()
                    && !site.get().equals("same-origin")
                    && !site.get().equals("none")) {
                return true;
            }
            return request.first(HeaderNames.ORIGIN)
                    .filter(origin -> !isOwn(origin))
                    .isPresent();
        }

        /** Whether a browser asked for this server by a foreign name, so that the page could read all responses. */
        boolean isMisled() {
            return request.first(HeaderNames.ORIGIN)
                    .map(RequestOrigin::authority)
                    .filter(authority -> isForHost(authority) && !hosts.isOwn(authority))
                    .isPresent();
        }

        private boolean isOwn(String origin) {
            String authority = authority(origin);
            boolean sameScheme = !secure || origin.regionMatches(true, 0, SECURE, 0, SECURE.length());
            return sameScheme && isForHost(authority) && hosts.isOwn(authority);
        }

        private boolean isForHost(String authority) {
            return !authority.isEmpty()
                    && request.host().filter(authority::equalsIgnoreCase).isPresent();
        }

        /** The host and port of an origin that a server can have; empty for others, such as {@code null}. */
        private static String authority(String origin) {
            Matcher web = OF_WEB_SERVER.matcher(origin);
            return web.matches() ? web.group(1) : "";
        }
    }

    /** Refuses requests for other hosts, where a browser on this machine could send them. Not thread-safe. */
    static final class HostCheck {
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
}
