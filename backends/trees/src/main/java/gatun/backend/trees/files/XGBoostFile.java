// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** An XGBoost model in JSON or UBJSON, checked since the library trusts it. Not thread-safe. */
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

    /** Checks a file, JSON or UBJSON. Throws {@link GatunException} INVALID_ARGUMENT with what is wrong, and where. */
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

    /** A tree in a model of XGBoost: the part of it that leads from node to node. For one thread. */
    static final class XGBoostTree {
        /** The library counts categories in a float. */
        private static final int MAX_CATEGORY = 1 << 24;

        /** What the first node has in place of a parent. */
        private static final int NO_PARENT = Integer.MAX_VALUE;

        private static final int[] NONE = {};

        private int[] left = NONE;
        private int[] right = NONE;
        private int[] parents = NONE;
        private int[] features = NONE;
        private int[] splitTypes = NONE;
        private int[] categories = NONE;
        private int[] categoryNodes = NONE;
        private int[] categorySegments = NONE;
        private int[] categorySizes = NONE;
        private long conditions;
        private long defaults;
        private long lossChanges = -1;
        private long hessians = -1;
        private long weights = -1;
        private long leafWeights;
        private long nodes;
        private long leafSize = 1;

        static XGBoostTree read(DocumentReader in) {
            XGBoostTree tree = new XGBoostTree();
            in.object(name -> tree.readMember(name, in));
            return tree;
        }

        private void readMember(String name, DocumentReader in) {
            switch (name) {
                case "left_children" -> left = in.integers();
                case "right_children" -> right = in.integers();
                case "split_indices" -> features = in.integers();
                case "split_type" -> splitTypes = in.integers();
                case "categories" -> categories = in.integers();
                case "categories_nodes" -> categoryNodes = in.integers();
                case "categories_segments" -> categorySegments = in.integers();
                case "categories_sizes" -> categorySizes = in.integers();
                case "parents" -> parents = in.integers();
                case "split_conditions" -> conditions = in.skipArray();
                case "default_left" -> defaults = in.skipArray();
                case "loss_changes" -> lossChanges = in.skipArray();
                case "sum_hessian" -> hessians = in.skipArray();
                case "base_weights" -> weights = in.skipArray();
                case "leaf_weights" -> leafWeights = in.skipArray();
                case "tree_param" -> in.object(parameter -> readParameter(parameter, in));
                default -> in.skip();
            }
        }

        private void readParameter(String name, DocumentReader in) {
            switch (name) {
                case "num_nodes" -> nodes = in.integerInText();
                case "size_leaf_vector" -> leafSize = in.integerInText();
                default -> in.skip();
            }
        }

        /** Checks that all ways end at a leaf, by existing features. {@code groups} counts classes or targets. */
        void check(long featureCount, long groups, String tree) {
            if (nodes < 1) {
                throw GatunException.invalidArgument(tree + " has no nodes");
            }
            TreeShape.requireCount(left.length, nodes, tree, "left_children");
            TreeShape.requireCount(right.length, nodes, tree, "right_children");
            TreeShape.requireCount(features.length, nodes, tree, "split_indices");
            TreeShape.requireCount(parents.length, nodes, tree, "parents");
            TreeShape.requireCount(conditions, nodes, tree, "split_conditions");
            TreeShape.requireCount(defaults, nodes, tree, "default_left");
            requireCountOrNone(lossChanges, nodes, tree, "loss_changes");
            requireCountOrNone(hessians, nodes, tree, "sum_hessian");
            boolean vectors = leafSize != 0 && leafSize != 1;
            if (vectors) {
                TreeShape.requireCount(leafSize, groups, tree, "size_leaf_vector");
            }
            requireCountOrNone(weights, vectors ? nodes * groups : nodes, tree, "base_weights");
            boolean[] isLeaf = new boolean[left.length];
            for (int i = 0; i < isLeaf.length; i++) {
                isLeaf[i] = left[i] == -1;
                if (isLeaf[i] && vectors) {
                    // Which of the vectors it has.
                    TreeShape.requireWithin(right[i], leafWeights / groups - 1, tree, "right_children of leaves");
                } else if (isLeaf[i] != (right[i] == -1)) {
                    throw GatunException.invalidArgument(tree + ": node " + i + " has one child, expected two or none");
                }
                if (!isLeaf[i]) {
                    TreeShape.requireWithin(features[i], featureCount - 1, tree, "split_indices");
                }
            }
            boolean[] used = new boolean[left.length];
            TreeShape.check(left, used, isLeaf, tree);
            TreeShape.check(right, used, isLeaf, tree);
            checkParents(isLeaf, tree);
            checkCategories(tree);
        }

        private void checkParents(boolean[] isLeaf, String tree) {
            for (int i = 0; i < isLeaf.length; i++) {
                if (parents[i] != NO_PARENT && !isRootOfVectors(i)) {
                    TreeShape.requireWithin(parents[i], nodes - 1, tree, "parents");
                }
                if (!isLeaf[i] && (parents[left[i]] != i || parents[right[i]] != i)) {
                    throw GatunException.invalidArgument(
                            tree + ": the children of node " + i + " name another as their parent");
                }
            }
            if (parents[0] != NO_PARENT && !isRootOfVectors(0)) {
                throw GatunException.invalidArgument(tree + ": its first node has a parent");
            }
        }

        /** Trees whose leaves have several numbers write it otherwise. */
        private boolean isRootOfVectors(int node) {
            return leafSize > 1 && node == 0 && parents[0] == -1;
        }

        private static void requireCountOrNone(long found, long expected, String tree, String what) {
            if (found >= 0) {
                TreeShape.requireCount(found, expected, tree, what);
            }
        }

        private void checkCategories(String tree) {
            if (splitTypes.length > 0) {
                TreeShape.requireCount(splitTypes.length, nodes, tree, "split_type");
            }
            TreeShape.requireCount(categorySegments.length, categoryNodes.length, tree, "categories_segments");
            TreeShape.requireCount(categorySizes.length, categoryNodes.length, tree, "categories_sizes");
            for (int category : categories) {
                TreeShape.requireWithin(category, MAX_CATEGORY, tree, "categories");
            }
            int before = -1;
            for (int i = 0; i < categoryNodes.length; i++) {
                TreeShape.requireWithin(categoryNodes[i], nodes - 1, tree, "categories_nodes");
                if (categoryNodes[i] <= before) {
                    throw GatunException.invalidArgument(tree + ": 'categories_nodes' is not in order");
                }
                before = categoryNodes[i];
                TreeShape.requireWithin(categorySizes[i], categories.length, tree, "categories_sizes");
                if (categorySizes[i] == 0) {
                    throw GatunException.invalidArgument(tree + ": node " + before + " has no categories");
                }
                TreeShape.requireWithin(
                        categorySegments[i], categories.length - categorySizes[i], tree, "categories_segments");
            }
            for (int i = 0; i < splitTypes.length; i++) {
                TreeShape.requireWithin(splitTypes[i], 1, tree, "split_type");
                if (splitTypes[i] != 0 && left[i] != -1 && Arrays.binarySearch(categoryNodes, i) < 0) {
                    throw GatunException.invalidArgument(
                            tree + ": node " + i + " is decided by categories, and has none in 'categories_nodes'");
                }
            }
        }
    }
}
