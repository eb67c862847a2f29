// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import gatun.http.connection.Routes;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiAccess.Refusal;
import gatun.runtime.access.ApiGroup;
import gatun.spi.Setting;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One protocol's routes: handlers, access, {@code Allow} and description ({@link OpenApi}). Thread-safe. */
public final class RouteTable implements Routes {
    private final String root;
    private final List<Route> rows;
    private final RouteTree tree;
    private final RestrictedRequests restricted;
    private final RouteConventions conventions;

    /**
     * A table for the paths that begin with {@code root}.
     *
     * @param rows the routes; those for one path belong to one group
     * @param access which groups of requests need which headers
     * @param conventions the protocol's own rules
     * @throws IllegalArgumentException when two rows contradict each other, or a path is none
     */
    public RouteTable(String root, List<Route> rows, ApiAccess access, RouteConventions conventions) {
        this.root = root;
        this.rows = List.copyOf(rows);
        this.restricted = new RestrictedRequests(access);
        this.conventions = conventions;
        this.tree = new RouteTree(conventions.ignoresCase());
        this.rows.forEach(tree::add);
    }

    /** The rows, in the order in which they were given. */
    public List<Route> rows() {
        return rows;
    }

    @Override
    public String root() {
        return root;
    }

    /** Whether a row has the path of the request. */
    public boolean knows(Exchange exchange) {
        return find(exchange, exchange.path()) != null;
    }

    @Override
    public boolean answerUnknownPath(Exchange exchange) {
        boolean below = isBelowRoot(exchange.path());
        if (below) {
            conventions.answerUnknownPath(exchange);
        }
        return below;
    }

    private boolean isBelowRoot(String path) {
        return path.regionMatches(conventions.ignoresCase(), 0, root, 0, root.length());
    }

    @Override
    public boolean answer(Exchange exchange) {
        RouteTree.Match match = find(exchange, exchange.path());
        if (match == null) {
            return false;
        }
        if (restricted.refused(exchange, match.leaves().getFirst().route().group())) {
            return true;
        }
        RouteTree.Leaf leaf = match.leaf(method(exchange));
        if (leaf == null) {
            conventions.answerOtherMethod(exchange, allowed(match));
        } else if (changesServer(leaf.route()) && exchange.isOfForeignPage()) {
            exchange.answerFailure(
                    Status.FORBIDDEN_403,
                    "a page of another origin may not do this; start the server with " + Setting.HTTP_CORS_ALLOW_ORIGIN
                            + " to let pages of that origin do it");
        } else {
            leaf.route().handler().answer(exchange, match.values(leaf));
        }
        return true;
    }

    /** Most requests of a connection have the path of the one before. */
    private RouteTree.@Nullable Match find(Exchange exchange, String path) {
        if (exchange.lastRoute().recall(this, path) instanceof RouteTree.Match last) {
            return last;
        }
        if (!isBelowRoot(path)) {
            return null;
        }
        RouteTree.Match match = tree.find(path);
        if (match != null) {
            exchange.lastRoute().remember(this, path, match);
        }
        return match;
    }

    /** Inference changes nothing but what models remember of their sequences, and pages of any origin may ask for it. */
    private static boolean changesServer(Route route) {
        return !route.method().equals(Method.GET) && route.group() != ApiGroup.INFERENCE;
    }

    private Method method(Exchange exchange) {
        boolean head = exchange.method().equals(Method.HEAD) && conventions.answersHeadAndOptions();
        return head ? Method.GET : exchange.method();
    }

    private String allowed(RouteTree.Match match) {
        String methods = match.leaves().stream()
                .map(leaf -> leaf.route().method())
                .map(method ->
                        method.equals(Method.GET) && conventions.answersHeadAndOptions() ? "GET, HEAD" : method.text())
                .collect(Collectors.joining(", "));
        return conventions.answersHeadAndOptions() ? methods + ", OPTIONS" : methods;
    }

    /** Refuses requests of restricted groups, before any part of them is read. Safe for any thread. */
    static final class RestrictedRequests {
        private final ApiAccess access;

        /** Refuses the requests that {@code access} refuses. */
        RestrictedRequests(ApiAccess access) {
            this.access = access;
        }

        /** Whether nobody is refused: browsers ask by OPTIONS, without their page's headers, what a page may send. */
        boolean areOpenTo(Exchange exchange) {
            return access.isOpen() || exchange.method().equals(Method.OPTIONS);
        }

        /** Whether the request was refused; it has been answered then. */
        boolean refused(Exchange exchange, ApiGroup group) {
            if (areOpenTo(exchange)) {
                return false;
            }
            Optional<Refusal> refusal = access.refusal(group, exchange::header);
            refusal.ifPresent(reason -> answer(exchange, reason));
            return refusal.isPresent();
        }

        private static void answer(Exchange exchange, Refusal refusal) {
            switch (refusal) {
                case Refusal.MissingHeader header ->
                    exchange.answerFailure(
                            Status.FORBIDDEN_403, "This API is restricted, expecting header '" + header.name() + "'");
                case Refusal.MissingToken token -> {
                    exchange.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
                    exchange.answerFailure(Status.UNAUTHORIZED_401, Refusal.MissingToken.TEXT);
                }
            }
        }
    }
}
