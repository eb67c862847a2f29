// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/**
 * A model of LightGBM, as far as the library trusts it: it jumps to where the file says that trees are, follows the
 * numbers of their nodes without a look, and ends the process over a tree that it cannot read. For one thread.
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

    /**
     * Looks through a model.
     *
     * @param text the file, without the zero byte behind it
     * @throws GatunException INVALID_ARGUMENT with what is wrong
     */
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
                    "there is no " + tree + " at byte " + first + ": it was cut short, or" + " changed by an editor");
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
}
