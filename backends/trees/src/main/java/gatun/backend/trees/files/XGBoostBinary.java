// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * Makes JSON of XGBoost's binary format, which its versions up to 3.0 wrote and later ones do not read: structs as they
 * lay in memory, and texts and lists with a length of eight bytes before them. For one thread.
 */
public final class XGBoostBinary {
    /** What newer files begin with. */
    private static final String SIGNATURE = "binf";

    // Bytes of structs, each with room for fields that never came.
    private static final int LEARNER_BYTES = 136;
    private static final int MODEL_BYTES = 160;
    private static final int TREE_BYTES = 148;
    private static final int NODE_BYTES = 20;
    private static final int STATISTICS_BYTES = 16;

    /** In the field that tells a node's parent. */
    private static final int IS_LEFT_CHILD = 1 << 31;

    /** In the field that tells a node's feature. */
    private static final int GOES_LEFT_WHEN_MISSING = 1 << 31;

    private static final int NO_PARENT = Integer.MAX_VALUE;
    private static final String OBJECTIVE = "objective";

    private final MemorySegment bytes;
    private final TextBuilder json;
    private long at;

    private XGBoostBinary(MemorySegment bytes, Arena arena) {
        this.bytes = bytes;
        json = new TextBuilder(arena, Math.max(1 << 16, 4 * bytes.byteSize()));
    }

    /**
     * The same model as JSON, with a zero byte behind it. Throws {@link GatunException} INVALID_ARGUMENT when it is no
     * such file, or one of before XGBoost 1.0.
     */
    public static MemorySegment toJson(MemorySegment bytes, Arena arena) {
        XGBoostBinary binary = new XGBoostBinary(bytes, arena);
        binary.convert();
        return binary.json.ended();
    }

    private void convert() {
        if (bytes.byteSize() > SIGNATURE.length() && text(SIGNATURE.length()).equals(SIGNATURE)) {
            at = SIGNATURE.length();
        }
        long learner = take(LEARNER_BYTES);
        float baseScore = bytes.get(ElementLayouts.FP32, learner);
        int features = integer(learner + 4);
        int classes = integer(learner + 8);
        boolean hasAttributes = integer(learner + 12) != 0;
        int major = integer(learner + 20);
        int targets = Math.max(1, integer(learner + 28));
        if (major < 1 || major > 3) {
            throw GatunException.invalidArgument("it was not written by XGBoost 1.0 to 3.0 (it says version " + major
                    + "); load it into one of those and save it as xgboost.json");
        }
        String objective = longText();
        String booster = longText();
        if (!booster.equals("gbtree") && !booster.equals("dart")) {
            throw GatunException.invalidArgument("it has no trees: of XGBoost's boosters, gbtree and dart are served,"
                    + " and this is '" + booster + "'");
        }
        json.add("{\"version\":[1,7,6],\"learner\":{\"learner_model_param\":{\"base_score\":\"")
                .add(Float.toString(baseScore))
                .add("\",\"num_class\":\"")
                .add(Integer.toString(classes))
                .add("\",\"num_feature\":\"")
                .add(Integer.toString(features))
                .add("\",\"num_target\":\"")
                .add(Integer.toString(targets))
                .add("\"},\"feature_names\":[],\"feature_types\":[],\"attributes\":{},\"gradient_booster\":");
        writeBooster(booster.equals("dart"));
        json.add(",\"objective\":")
                .add(objective(objective, classes, hasAttributes))
                .add("}}");
    }

    private void writeBooster(boolean dart) {
        json.add(dart ? "{\"name\":\"dart\",\"gbtree\":" : "").add("{\"name\":\"gbtree\",\"model\":{\"trees\":[");
        long model = take(MODEL_BYTES);
        int treeCount = integer(model);
        int treesAtOnce = integer(model + 4);
        for (int i = 0; i < treeCount; i++) {
            json.add(i == 0 ? "" : ",");
            writeTree(i);
        }
        json.add("],\"tree_info\":");
        writeIntegers(take(4L * Math.max(0, treeCount)), 4, treeCount, number -> number);
        json.add(",\"gbtree_model_param\":{\"num_trees\":\"")
                .add(Integer.toString(treeCount))
                .add("\",\"num_parallel_tree\":\"")
                .add(Integer.toString(Math.max(1, treesAtOnce)))
                .add("\"}}}");
        if (dart) {
            json.add(",\"weight_drop\":");
            long count = treeCount > 0 ? length() : 0;
            writeFloats(take(count * 4), 4, count);
            json.add("}");
        }
    }

    private void writeTree(int number) {
        long tree = take(TREE_BYTES);
        int nodeCount = integer(tree + 4);
        int features = integer(tree + 16);
        if (nodeCount < 1 || integer(tree + 20) > 1) {
            throw GatunException.invalidArgument("tree " + number + " has " + nodeCount + " nodes with "
                    + integer(tree + 20) + " numbers each, expected at least one node, and one number");
        }
        long nodes = take((long) nodeCount * NODE_BYTES);
        long statistics = take((long) nodeCount * STATISTICS_BYTES);
        json.add("{\"id\":").add(Integer.toString(number)).add(",\"parents\":");
        writeIntegers(nodes, NODE_BYTES, nodeCount, parent -> parent == -1 ? NO_PARENT : parent & ~IS_LEFT_CHILD);
        json.add(",\"left_children\":");
        writeIntegers(nodes + 4, NODE_BYTES, nodeCount, child -> child);
        json.add(",\"right_children\":");
        writeIntegers(nodes + 8, NODE_BYTES, nodeCount, child -> child);
        json.add(",\"split_indices\":");
        writeIntegers(nodes + 12, NODE_BYTES, nodeCount, feature -> feature & ~GOES_LEFT_WHEN_MISSING);
        json.add(",\"default_left\":");
        writeIntegers(nodes + 12, NODE_BYTES, nodeCount, feature -> feature >>> 31);
        json.add(",\"split_type\":");
        writeIntegers(nodes, NODE_BYTES, nodeCount, parent -> 0);
        json.add(",\"split_conditions\":");
        writeFloats(nodes + 16, NODE_BYTES, nodeCount);
        json.add(",\"loss_changes\":");
        writeFloats(statistics, STATISTICS_BYTES, nodeCount);
        json.add(",\"sum_hessian\":");
        writeFloats(statistics + 4, STATISTICS_BYTES, nodeCount);
        json.add(",\"base_weights\":");
        writeFloats(statistics + 8, STATISTICS_BYTES, nodeCount);
        json.add(",\"categories\":[],\"categories_nodes\":[],\"categories_segments\":[],\"categories_sizes\":[]")
                .add(",\"tree_param\":{\"num_nodes\":\"")
                .add(Integer.toString(nodeCount))
                .add("\",\"num_feature\":\"")
                .add(Integer.toString(features))
                .add("\",\"num_deleted\":\"")
                .add(Integer.toString(integer(tree + 8)))
                .add("\",\"size_leaf_vector\":\"1\"}}");
    }

    private String objective(String name, int classes, boolean hasAttributes) {
        Map<String, String> attributes = new LinkedHashMap<>();
        long count = hasAttributes ? length() : 0;
        for (long i = 0; i < count; i++) {
            attributes.put(longText(), longText());
        }
        String noted = attributes.get(OBJECTIVE);
        if (noted != null && noted.startsWith("{")) {
            return noted;
        }
        if (name.startsWith("multi:")) {
            return "{\"name\":" + quoted(name) + ",\"softmax_multiclass_param\":{\"num_class\":\"" + classes + "\"}}";
        }
        return "{\"name\":" + quoted(name) + ",\"reg_loss_param\":{\"scale_pos_weight\":\"1\"}}";
    }

    private static String quoted(String text) {
        if (!text.matches("[A-Za-z0-9:_-]{1,64}")) {
            throw GatunException.invalidArgument("it has an objective of an odd name");
        }
        return "\"" + text + "\"";
    }

    private void writeIntegers(long first, int stride, long count, IntUnaryOperator change) {
        json.add("[");
        for (long i = 0; i < count; i++) {
            json.add(i == 0 ? "" : ",").add(Integer.toString(change.applyAsInt(integer(first + i * stride))));
        }
        json.add("]");
    }

    private void writeFloats(long first, int stride, long count) {
        json.add("[");
        for (long i = 0; i < count; i++) {
            json.add(i == 0 ? "" : ",").add(Float.toString(bytes.get(ElementLayouts.FP32, first + i * stride)));
        }
        json.add("]");
    }

    private int integer(long place) {
        return bytes.get(ElementLayouts.INT32, place);
    }

    private long length() {
        return bytes.get(ElementLayouts.INT64, take(Long.BYTES));
    }

    private String longText() {
        long length = length();
        if (length < 0 || length > DocumentReader.MAX_TEXT) {
            throw GatunException.invalidArgument("at byte " + at + " it has a text of " + length + " bytes");
        }
        String text = text(length);
        at += length;
        return text;
    }

    /** The next bytes as a text; they are not taken. */
    private String text(long length) {
        at = take(length);
        return new String(bytes.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE), ISO_8859_1);
    }

    /** Takes bytes; returns where they begin. */
    private long take(long byteSize) {
        if (byteSize < 0 || byteSize > bytes.byteSize() - at) {
            throw GatunException.invalidArgument(
                    "it ends at byte " + bytes.byteSize() + ", and " + byteSize + " more were expected at byte " + at);
        }
        long first = at;
        at += byteSize;
        return first;
    }

    /** Joins texts in native memory, which may be longer than any array. For one thread. */
    static final class TextBuilder {
        private final Arena arena;
        private MemorySegment memory;
        private long length;

        /** Joins texts in memory of {@code arena}, of {@code byteSize} bytes or, where that is too little, more. */
        TextBuilder(Arena arena, long byteSize) {
            this.arena = arena;
            memory = arena.allocate(byteSize);
        }

        TextBuilder add(String text) {
            byte[] bytes = text.getBytes(ISO_8859_1);
            if (bytes.length > memory.byteSize() - length) {
                MemorySegment larger = arena.allocate(2 * (memory.byteSize() + bytes.length));
                MemorySegment.copy(memory, 0, larger, 0, length);
                memory = larger;
            }
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, length, bytes.length);
            length += bytes.length;
            return this;
        }

        /** All of it, with a zero byte behind it. */
        MemorySegment ended() {
            add("\0");
            return memory.asSlice(0, length);
        }
    }
}
