// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import io.helidon.http.Method;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Route patterns as a tree of segments, literals before parameters. Built by one thread, then read-only. */
final class RouteTree {
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

        /** The routes, one for a method. */
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

    /**
     * Adds a route.
     *
     * @throws IllegalArgumentException when there is one for such a path and method, or one of another group
     */
    void add(Route route) {
        for (PathPattern pattern : PathPattern.parse(route.path())) {
            if (pattern.parameterCount() > MOST_PARAMETERS) {
                throw new IllegalArgumentException(route.path() + " has more than " + MOST_PARAMETERS + " parameters");
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
