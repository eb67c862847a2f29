// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import gatun.memory.tensor.GatunException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Checks a tree in a model of LightGBM, by its lines. Stateless. */
final class LightGbmTree {
    /** In a node's {@code decision_type}. */
    private static final int BY_CATEGORY = 1;

    private LightGbmTree() {}

    /**
     * Checks that all ways through a tree end at a leaf, by features and categories that there are.
     *
     * @param lines what stands before {@code =} in a line, and behind
     * @param features how many the model has
     * @param tree the tree, for messages
     * @throws GatunException INVALID_ARGUMENT with what is wrong
     */
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

    /** Leaves may have a sum of features in place of a number. */
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

    /** The whole number behind {@code name}. */
    static long number(Map<String, String> lines, String name, String where) {
        String text = lines.get(name);
        if (text == null) {
            throw GatunException.invalidArgument(where + ": there is no line '" + name + "'");
        }
        return whole(text, where, name);
    }

    /** Whole numbers with blanks between them. */
    static long[] numbers(String text, String where, String name) {
        List<String> words = words(text);
        long[] numbers = new long[words.size()];
        for (int i = 0; i < words.size(); i++) {
            numbers[i] = whole(words.get(i), where, name);
        }
        return numbers;
    }

    /** What stands between blanks. */
    static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf(' ', at);
            if (end < 0) {
                end = text.length();
            }
            if (end > at) {
                words.add(text.substring(at, end));
            }
            at = end + 1;
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
        String shown = word.length() > 40 ? word.substring(0, 40) + "..." : word;
        return GatunException.invalidArgument(where + ": '" + name + "' has '" + shown + "', expected a number");
    }
}
