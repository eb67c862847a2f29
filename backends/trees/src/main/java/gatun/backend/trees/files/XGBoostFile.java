// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A model of XGBoost, in JSON or UBJSON, as far as the library trusts it: it follows the numbers of nodes, features and
 * classes in the file without a look. For one thread.
 */
public final class XGBoostFile {
    /** The library makes room for as many as the file says. */
    private static final int MAX_CLASSES = 1 << 20;

    private final DocumentReader in;
    private final List<XGBoostTree> trees = new ArrayList<>();
    private int[] treeClasses = {};
    private int[] rounds = {};
    private long features = -1;
    private long classes;
    private long targets = 1;
    private long treeCount = -1;
    private long treesAtOnce = 1;
    private long droppedWeights = -1;
    private boolean hasTrees;

    private XGBoostFile(DocumentReader in) {
        this.in = in;
    }

    /**
     * Looks through a model.
     *
     * @param bytes the file
     * @param ubj whether it is UBJSON
     * @throws GatunException INVALID_ARGUMENT with what is wrong, and where
     */
    public static void check(MemorySegment bytes, boolean ubj) {
        XGBoostFile file = new XGBoostFile(ubj ? new UbjReader(bytes) : new JsonReader(bytes));
        file.read();
        file.check();
    }

    private void read() {
        in.object(name -> {
            if (name.equals("learner")) {
                in.object(this::readLearner);
            } else {
                in.skip();
            }
        });
        in.requireEnd();
    }

    private void readLearner(String name) {
        switch (name) {
            case "gradient_booster" -> in.object(this::readBooster);
            case "learner_model_param" -> in.object(this::readParameter);
            default -> in.skip();
        }
    }

    private void readParameter(String name) {
        switch (name) {
            case "num_feature" -> features = in.integerInText();
            case "num_class" -> classes = in.integerInText();
            case "num_target" -> targets = in.integerInText();
            default -> in.skip();
        }
    }

    /** That of {@code dart} has another in it. */
    private void readBooster(String name) {
        switch (name) {
            case "gbtree" -> in.object(this::readBooster);
            case "model" -> in.object(this::readModel);
            case "weight_drop" -> droppedWeights = in.skipArray();
            default -> in.skip();
        }
    }

    private void readModel(String name) {
        switch (name) {
            case "trees" -> {
                hasTrees = true;
                in.array(() -> trees.add(XGBoostTree.read(in)));
            }
            case "tree_info" -> treeClasses = in.integers();
            case "iteration_indptr" -> rounds = in.integers();
            case "gbtree_model_param" ->
                in.object(parameter -> {
                    switch (parameter) {
                        case "num_trees" -> treeCount = in.integerInText();
                        case "num_parallel_tree" -> treesAtOnce = in.integerInText();
                        default -> in.skip();
                    }
                });
            default -> in.skip();
        }
    }

    private void check() {
        String all = "the model";
        if (!hasTrees) {
            throw GatunException.invalidArgument("it has no trees: of XGBoost's boosters, gbtree and dart are served");
        }
        TreeShape.requireWithin(features - 1, Integer.MAX_VALUE - 1, all, "num_feature - 1");
        TreeShape.requireWithin(classes, MAX_CLASSES, all, "num_class");
        TreeShape.requireWithin(targets, MAX_CLASSES, all, "num_target");
        TreeShape.requireWithin(treesAtOnce, Integer.MAX_VALUE, all, "num_parallel_tree");
        TreeShape.requireCount(treeCount, trees.size(), all, "num_trees");
        TreeShape.requireCount(treeClasses.length, trees.size(), all, "tree_info");
        long groups = Math.max(1, Math.max(classes, targets));
        for (int treeClass : treeClasses) {
            TreeShape.requireWithin(treeClass, groups - 1, all, "tree_info");
        }
        int before = 0;
        for (int first : rounds) {
            TreeShape.requireWithin(first - before, trees.size() - before, all, "iteration_indptr");
            before = first;
        }
        if (rounds.length > 0) {
            TreeShape.requireCount(before, trees.size(), all, "iteration_indptr");
        }
        if (droppedWeights >= 0) {
            TreeShape.requireCount(droppedWeights, trees.size(), all, "weight_drop");
        }
        for (int i = 0; i < trees.size(); i++) {
            trees.get(i).check(features, groups, "tree " + i);
        }
    }
}
