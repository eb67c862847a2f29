// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;

/**
 * A model of LightGBM, checked since the library trusts it: it follows the numbers of trees and nodes without a look,
 * and ends the process over a tree that it cannot read. For one thread.
 */
public final class LightGbmFile {
    private static final String FIRST_LINE = "tree";
    private static final String TREE = "Tree=";
    private static final String END = "end of trees";

    /** The library makes room for as many as the file says. */
    private static final int MAX_CLASSES = 1 << 20;

    private final MemorySegment text;
    private final long end;
    private long at;

    private LightGbmFile(MemorySegment text) {
        this.text = text;
        this.end = text.byteSize();
    }

    /** Checks a file, without its zero byte. Throws {@link GatunException} INVALID_ARGUMENT with what is wrong. */
    public static void check(MemorySegment text) {
        new LightGbmFile(text).check();
    }

    private void check() {
        if (!line().equals(FIRST_LINE)) {
            throw GatunException.invalidArgument("it does not begin with a line '" + FIRST_LINE + "'");
        }
        Map<String, String> head = block(false);
        String all = "the model";
        long features = LightGbmTree.number(head, "max_feature_idx", all) + 1;
        TreeShape.requireWithin(features - 1, Integer.MAX_VALUE - 1, all, "max_feature_idx");
        TreeShape.requireWithin(LightGbmTree.number(head, "num_class", all) - 1, MAX_CLASSES, all, "num_class - 1");
        long classes = LightGbmTree.number(head, "num_class", all);
        if (LightGbmTree.number(head, "num_tree_per_iteration", all) != classes) {
            throw GatunException.invalidArgument("'num_tree_per_iteration' is not 'num_class', " + classes);
        }
        TreeShape.requireCount(
                LightGbmTree.words(head.getOrDefault("feature_names", "")).size(), features, all, "feature_names");
        TreeShape.requireCount(
                LightGbmTree.words(head.getOrDefault("feature_infos", "")).size(), features, all, "feature_infos");
        long[] sizes = LightGbmTree.numbers(head.getOrDefault("tree_sizes", ""), all, "tree_sizes");
        if (sizes.length % classes != 0) {
            throw GatunException.invalidArgument(
                    "it has " + sizes.length + " trees, which are not as many for each of its " + classes + " classes");
        }
        for (int i = 0; i < sizes.length; i++) {
            checkTree(i, sizes[i], features);
        }
        passEmptyLines();
        if (!line().equals(END)) {
            throw GatunException.invalidArgument(
                    "behind its " + sizes.length + " trees there is no line '" + END + "': it was cut short");
        }
    }

    private void checkTree(int index, long size, long features) {
        passEmptyLines();
        long first = at;
        String tree = "tree " + index;
        if (!line().startsWith(TREE)) {
            throw GatunException.invalidArgument(
                    "there is no " + tree + " at byte " + first + ": it was cut short, or changed by an editor");
        }
        Map<String, String> lines = block(true);
        LightGbmTree.check(lines, features, tree);
        passEmptyLines();
        // What the library adds up to find the next tree.
        TreeShape.requireCount(at - first, size, tree, "tree_sizes");
    }

    /** The lines up to the next empty one; in a tree, the library cannot bear another kind of line. */
    private Map<String, String> block(boolean inTree) {
        Map<String, String> lines = new HashMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                lines.put(line.substring(0, equals), line.substring(equals + 1));
            } else if (inTree) {
                throw GatunException.invalidArgument(
                        "it has the line '" + shown(line) + "' where NAME=VALUE was expected");
            }
        }
        return lines;
    }

    private static String shown(String line) {
        return line.length() > 40 ? line.substring(0, 40) + "..." : line;
    }

    private void passEmptyLines() {
        while (at < end && (byteAt(at) == '\n' || byteAt(at) == '\r')) {
            at++;
        }
    }

    /** The next line; empty at the end. */
    private String line() {
        long first = at;
        while (at < end && byteAt(at) != '\n') {
            at++;
        }
        byte[] line = new byte[Math.toIntExact(at - first)];
        MemorySegment.copy(text, ValueLayout.JAVA_BYTE, first, line, 0, line.length);
        if (at < end) {
            at++;
        }
        return new String(line, ISO_8859_1).strip();
    }

    private byte byteAt(long place) {
        return text.get(ValueLayout.JAVA_BYTE, place);
    }

    /** Checks a tree in a model of LightGBM, by its lines. Stateless. */
    static final class LightGbmTree {
        /** In a node's {@code decision_type}. */
        private static final int BY_CATEGORY = 1;

        private LightGbmTree() {}

        /** Checks that all ways end at a leaf, by existing features and categories. Throws INVALID_ARGUMENT. */
        static void check(Map<String, String> lines, long features, String tree) {
            long leaves = number(lines, "num_leaves", tree);
            TreeShape.requireWithin(leaves - 1, Integer.MAX_VALUE - 1, tree, "num_leaves - 1");
            long nodes = leaves - 1;
            requireReals(lines, "leaf_value", leaves, tree, true);
            requireReals(lines, "leaf_weight", leaves, tree, false);
            requireReals(lines, "leaf_count", leaves, tree, false);
            requireReals(lines, "shrinkage", 1, tree, false);
            long categories = number(lines, "num_cat", tree);
            TreeShape.requireWithin(categories, Integer.MAX_VALUE - 1, tree, "num_cat");
            checkLinear(lines, leaves, features, tree);
            if (nodes == 0) {
                return;
            }
            long[] splits = counted(lines, "split_feature", nodes, tree);
            for (long feature : splits) {
                TreeShape.requireWithin(feature, features - 1, tree, "split_feature");
            }
            for (String name : new String[] {"split_gain", "internal_value", "internal_weight", "internal_count"}) {
                requireReals(lines, name, nodes, tree, false);
            }
            requireReals(lines, "threshold", nodes, tree, true);
            checkWays(counted(lines, "left_child", nodes, tree), counted(lines, "right_child", nodes, tree), tree);
            checkCategories(lines, categories, nodes, tree);
        }

        /** Nodes are numbered from 0, and leaves from -1 downwards. */
        private static void checkWays(long[] left, long[] right, String tree) {
            boolean[] usedNodes = new boolean[left.length];
            boolean[] usedLeaves = new boolean[left.length + 1];
            usedNodes[0] = true;
            for (long[] children : new long[][] {left, right}) {
                for (long child : children) {
                    boolean isLeaf = child < 0;
                    boolean[] used = isLeaf ? usedLeaves : usedNodes;
                    long index = isLeaf ? ~child : child;
                    if (index >= used.length || used[(int) index]) {
                        throw GatunException.invalidArgument(
                                tree + ": a node has child " + child + ", which is not there or the child of another");
                    }
                    used[(int) index] = true;
                }
            }
        }

        private static void checkCategories(Map<String, String> lines, long categories, long nodes, String tree) {
            long[] decisions = lines.containsKey("decision_type")
                    ? counted(lines, "decision_type", nodes, tree)
                    : new long[(int) nodes];
            if (categories > 0) {
                long[] bounds = counted(lines, "cat_boundaries", categories + 1, tree);
                for (int i = 0; i < bounds.length; i++) {
                    long before = i == 0 ? 0 : bounds[i - 1];
                    TreeShape.requireWithin(bounds[i] - before, i == 0 ? 0 : Integer.MAX_VALUE, tree, "cat_boundaries");
                }
                long last = bounds[bounds.length - 1];
                TreeShape.requireWithin(last, Integer.MAX_VALUE, tree, "cat_boundaries");
                counted(lines, "cat_threshold", last, tree);
            }
            List<String> thresholds = words(lines.getOrDefault("threshold", ""));
            for (int i = 0; i < nodes; i++) {
                if ((decisions[i] & BY_CATEGORY) != 0) {
                    TreeShape.requireWithin(
                            (long) real(thresholds.get(i), tree, "threshold"), categories - 1, tree, "threshold");
                }
            }
        }

        private static void checkLinear(Map<String, String> lines, long leaves, long features, String tree) {
            if (!lines.containsKey("is_linear") || number(lines, "is_linear", tree) == 0) {
                return;
            }
            requireReals(lines, "leaf_const", leaves, tree, true);
            long total = 0;
            for (long count : counted(lines, "num_features", leaves, tree)) {
                TreeShape.requireWithin(count, features, tree, "num_features");
                total += count;
            }
            for (long feature : counted(lines, "leaf_features", total, tree)) {
                TreeShape.requireWithin(feature, features - 1, tree, "leaf_features");
            }
            requireReals(lines, "leaf_coeff", total, tree, true);
        }

        private static void requireReals(
                Map<String, String> lines, String name, long count, String tree, boolean required) {
            String text = lines.getOrDefault(name, "");
            if (!required && text.isBlank()) {
                return;
            }
            List<String> words = words(text);
            TreeShape.requireCount(words.size(), count, tree, name);
            for (String word : words) {
                real(word, tree, name);
            }
        }

        private static long[] counted(Map<String, String> lines, String name, long count, String tree) {
            long[] numbers = numbers(lines.getOrDefault(name, ""), tree, name);
            TreeShape.requireCount(numbers.length, count, tree, name);
            return numbers;
        }

        static long number(Map<String, String> lines, String name, String where) {
            String text = lines.get(name);
            if (text == null) {
                throw GatunException.invalidArgument(where + ": there is no line '" + name + "'");
            }
            return whole(text, where, name);
        }

        static long[] numbers(String text, String where, String name) {
            return words(text).stream()
                    .mapToLong(word -> whole(word, where, name))
                    .toArray();
        }

        static List<String> words(String text) {
            List<String> words = new ArrayList<>();
            // A line of nothing but blanks, of any length, makes no words.
            for (StringTokenizer left = new StringTokenizer(text, " "); left.hasMoreTokens(); ) {
                words.add(left.nextToken());
            }
            return words;
        }

        private static long whole(String word, String where, String name) {
            try {
                return Long.parseLong(word.strip());
            } catch (NumberFormatException e) {
                throw noNumber(word, where, name);
            }
        }

        private static double real(String word, String where, String name) {
            try {
                return switch (word) {
                    case "inf", "+inf" -> Double.POSITIVE_INFINITY;
                    case "-inf" -> Double.NEGATIVE_INFINITY;
                    case "nan", "-nan" -> Double.NaN;
                    default -> {
                        // Java would read more, such as a number with control characters around it.
                        if (!word.chars().allMatch(LightGbmTree::isOfNumber)) {
                            throw noNumber(word, where, name);
                        }
                        double number = Double.parseDouble(word);
                        // The library fails over what no double holds, with all its digits.
                        if (Double.isInfinite(number) || (Math.abs(number) < Double.MIN_NORMAL && !isZero(word))) {
                            throw noNumber(word, where, name);
                        }
                        yield number;
                    }
                };
            } catch (NumberFormatException e) {
                throw noNumber(word, where, name);
            }
        }

        private static boolean isOfNumber(int c) {
            return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
        }

        private static boolean isZero(String word) {
            return word.chars().takeWhile(c -> c != 'e' && c != 'E').noneMatch(c -> c >= '1' && c <= '9');
        }

        private static GatunException noNumber(String word, String where, String name) {
            return GatunException.invalidArgument(
                    where + ": '" + name + "' has '" + shown(word) + "', expected a number");
        }
    }
}
