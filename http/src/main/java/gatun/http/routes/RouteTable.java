// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import gatun.http.connection.Routes;
import gatun.http.openapi.Operation;
import gatun.http.routes.PathValues.PathPattern;
import gatun.http.routes.PathValues.RouteConventions;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiAccess.Refusal;
import gatun.runtime.access.ApiGroup;
import gatun.spi.Setting;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One protocol's routes: handlers, access, {@code Allow} and description ({@link OpenApiJson}). Thread-safe. */
public final class RouteTable implements Routes {
    private final String root;
    private final List<Route> rows;
    private final RouteTree tree;
    private final RestrictedRequests restricted;
    private final RouteConventions conventions;

    /**
     * A table for the paths that begin with {@code root}; rows for one path belong to one group. Throws
     * {@link IllegalArgumentException} for a path that is none, or rows that contradict each other.
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
            answerOtherMethod(exchange, allowed(match));
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

    /** Answers a request whose path is for other methods only, of which any protocol's clients learn by {@code Allow}. */
    private void answerOtherMethod(Exchange exchange, String allowed) {
        if (exchange.method().equals(Method.OPTIONS) && conventions.answersHeadAndOptions()) {
            exchange.answerOptions(allowed);
        } else {
            exchange.header(HeaderNames.ALLOW, allowed);
            conventions.answerOtherMethod(exchange);
        }
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

    /** Inference changes nothing but what models remember of sequences, and pages of any origin may ask for it. */
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

    /** Route patterns as a tree of segments, literals before parameters. Built by one thread, then read-only. */
    static final class RouteTree {
        private static final int MOST_PARAMETERS = 4;

        private final Node root = new Node();
        private final boolean anyCase;

        /** An empty tree; {@code anyCase} for literals whose case makes no difference. */
        RouteTree(boolean anyCase) {
            this.anyCase = anyCase;
        }

        /** One segment further along a path. */
        private static final class Node {
            private final List<Branch> literals = new ArrayList<>();
            private final List<Branch> parameters = new ArrayList<>();
            private final List<Leaf> leaves = new ArrayList<>();
        }

        private record Branch(PathPattern.Segment segment, Node node) {}

        /** A route, and which of its patterns ends here. */
        record Leaf(Route route, PathPattern pattern) {}

        /** The routes of a path that has any, all of one group. For one thread. */
        static final class Match {
            private final List<Leaf> leaves;
            private final String path;
            private final int[] bounds;
            private @Nullable Leaf lastLeaf;
            private @Nullable PathValues lastValues;

            private Match(List<Leaf> leaves, String path, int[] bounds) {
                this.leaves = leaves;
                this.path = path;
                this.bounds = bounds;
            }

            List<Leaf> leaves() {
                return leaves;
            }

            /** The route for a method; null where there is none. */
            @Nullable
            Leaf leaf(Method method) {
                for (Leaf leaf : leaves) {
                    if (leaf.route().method().equals(method)) {
                        return leaf;
                    }
                }
                return null;
            }

            /** The open parts of the path as {@code leaf} names them; the same for the same leaf. */
            @SuppressWarnings("ReferenceEquality") // the tree has one of each
            PathValues values(Leaf leaf) {
                PathValues values = lastValues;
                if (values == null || leaf != lastLeaf) {
                    values = new PathValues(path, leaf.pattern(), bounds);
                    lastValues = values;
                    lastLeaf = leaf;
                }
                return values;
            }
        }

        /** Adds a route. Throws {@link IllegalArgumentException} if its path has the method, or another group. */
        void add(Route route) {
            for (PathPattern pattern : PathPattern.parse(route.path())) {
                if (pattern.parameterCount() > MOST_PARAMETERS) {
                    throw new IllegalArgumentException(
                            route.path() + " has more than " + MOST_PARAMETERS + " parameters");
                }
                Node node = root;
                for (PathPattern.Segment segment : pattern.segments()) {
                    node = child(node, segment);
                }
                for (Leaf other : node.leaves) {
                    if (other.route().method().equals(route.method())
                            || other.route().group() != route.group()) {
                        throw new IllegalArgumentException(route.path() + " and "
                                + other.route().path() + " are paths of one form, but of one method or of two groups");
                    }
                }
                node.leaves.add(new Leaf(route, pattern));
            }
        }

        private static Node child(Node node, PathPattern.Segment segment) {
            List<Branch> branches = segment.parameter().isEmpty() ? node.literals : node.parameters;
            for (Branch branch : branches) {
                PathPattern.Segment known = branch.segment();
                if (known.kind() == segment.kind() && known.literal().equals(segment.literal())) {
                    return branch.node();
                }
            }
            Branch added = new Branch(segment, new Node());
            branches.add(added);
            return added.node();
        }

        /** The routes of a path; null where there are none. */
        @Nullable
        Match find(String path) {
            int[] bounds = new int[2 * MOST_PARAMETERS];
            Node found = find(root, path, 0, bounds, 0);
            return found == null ? null : new Match(found.leaves, path, bounds);
        }

        /** The node that {@code path} from {@code at} on leads to, where a segment of it begins or none is left. */
        private @Nullable Node find(Node node, String path, int at, int[] bounds, int count) {
            if (at == path.length()) {
                return node.leaves.isEmpty() ? null : node;
            }
            if (path.charAt(at) != '/') {
                return null;
            }
            int from = at + 1;
            int slash = path.indexOf('/', from);
            int to = slash < 0 ? path.length() : slash;
            for (Branch branch : node.literals) {
                String literal = branch.segment().literal();
                if (literal.length() == to - from && path.regionMatches(anyCase, from, literal, 0, literal.length())) {
                    Node found = find(branch.node(), path, to, bounds, count);
                    if (found != null) {
                        return found;
                    }
                }
            }
            for (Branch branch : node.parameters) {
                int end = endOfParameter(path, from, to, branch.segment());
                if (end > from) {
                    bounds[2 * count] = from;
                    bounds[2 * count + 1] = end;
                    Node found = find(branch.node(), path, to, bounds, count + 1);
                    if (found != null) {
                        return found;
                    }
                }
            }
            return null;
        }

        /** The end of a segment's parameter from {@code from} to {@code to}; -1 for another segment. */
        private static int endOfParameter(String path, int from, int to, PathPattern.Segment segment) {
            int end = to - segment.literal().length();
            if (end <= from || !path.startsWith(segment.literal(), end)) {
                return -1;
            }
            for (int i = from; segment.kind() != PathPattern.Kind.TEXT && i < end; i++) {
                if (!segment.kind().allows(path.charAt(i))) {
                    return -1;
                }
            }
            return end;
        }
    }

    /** A row: requests of a method to a {@link PathPattern}, restricted by group; what they are, in short and in all. */
    public record Route(
            Method method, String path, ApiGroup group, String summary, Operation operation, RouteHandler handler) {
        /** A route of GET requests. */
        public static Route get(
                String path, ApiGroup group, String summary, Operation operation, RouteHandler handler) {
            return new Route(Method.GET, path, group, summary, operation, handler);
        }

        /** A route of GET requests of which the description has the summary only. */
        public static Route get(String path, ApiGroup group, String summary, RouteHandler handler) {
            return get(path, group, summary, Operation.UNDESCRIBED, handler);
        }

        /** A route of POST requests. */
        public static Route post(
                String path, ApiGroup group, String summary, Operation operation, RouteHandler handler) {
            return new Route(Method.POST, path, group, summary, operation, handler);
        }

        /** A route of POST requests of which the description has the summary only. */
        public static Route post(String path, ApiGroup group, String summary, RouteHandler handler) {
            return post(path, group, summary, Operation.UNDESCRIBED, handler);
        }

        /** Answers the requests of one route. Safe for any thread. */
        @FunctionalInterface
        public interface RouteHandler {
            /** Answers a request to the route, with the open parts of its path. A GatunException becomes a failure. */
            void answer(Exchange exchange, PathValues path);
        }
    }
}
