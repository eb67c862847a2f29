// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntFunction;

/**
 * Writes forests of full trees that nobody trained: which way a row takes through one is up to chance, as with real
 * ones.
 */
final class SyntheticForest {
    private final int trees;
    private final int features;
    private final int depth;
    private final Random random = new Random(5);

    SyntheticForest(int trees, int features, int depth) {
        this.trees = trees;
        this.features = features;
        this.depth = depth;
    }

    /** Writes it as {@code xgboost.json}, for {@code binary:logistic}. */
    Path writeXGBoost(Path folder) throws IOException {
        int nodes = (1 << (depth + 1)) - 1;
        int inner = (1 << depth) - 1;
        List<String> written = new ArrayList<>();
        for (int tree = 0; tree < trees; tree++) {
            written.add("{\"id\":" + tree
                    + ",\"left_children\":" + array(nodes, i -> Integer.toString(i < inner ? 2 * i + 1 : -1))
                    + ",\"right_children\":" + array(nodes, i -> Integer.toString(i < inner ? 2 * i + 2 : -1))
                    + ",\"parents\":" + array(nodes, i -> Integer.toString(i == 0 ? Integer.MAX_VALUE : (i - 1) / 2))
                    + ",\"split_indices\":"
                    + array(nodes, i -> Integer.toString(i < inner ? random.nextInt(features) : 0))
                    + ",\"split_conditions\":"
                    + array(nodes, i -> real(random.nextGaussian() * (i < inner ? 1 : 0.01)))
                    + ",\"default_left\":" + array(nodes, i -> "0")
                    + ",\"split_type\":" + array(nodes, i -> "0")
                    + ",\"loss_changes\":" + array(nodes, i -> "0.0")
                    + ",\"sum_hessian\":" + array(nodes, i -> "1.0")
                    + ",\"base_weights\":" + array(nodes, i -> "0.0")
                    + ",\"categories\":[],\"categories_nodes\":[],\"categories_segments\":[],\"categories_sizes\":[]"
                    + ",\"tree_param\":{\"num_nodes\":\"" + nodes + "\",\"num_feature\":\"" + features
                    + "\",\"num_deleted\":\"0\",\"size_leaf_vector\":\"1\"}}");
        }
        return Files.writeString(
                folder.resolve("xgboost.json"),
                "{\"version\":[2,1,0],\"learner\":{\"learner_model_param\":{\"base_score\":\"5E-1\",\"num_class\":\"0\","
                        + "\"num_feature\":\"" + features + "\",\"num_target\":\"1\"},\"feature_names\":[],"
                        + "\"feature_types\":[],\"attributes\":{},\"objective\":{\"name\":\"binary:logistic\","
                        + "\"reg_loss_param\":{\"scale_pos_weight\":\"1\"}},\"gradient_booster\":{\"name\":\"gbtree\","
                        + "\"model\":{\"gbtree_model_param\":{\"num_trees\":\"" + trees
                        + "\",\"num_parallel_tree\":\"1\"},\"tree_info\":" + array(trees, i -> "0") + ",\"trees\":["
                        + String.join(",", written) + "]}}}}");
    }

    /** Writes it as {@code model.txt}, for {@code binary}. */
    Path writeLightGbm(Path folder) throws IOException {
        int leaves = 1 << depth;
        int inner = leaves - 1;
        List<String> written = new ArrayList<>();
        for (int tree = 0; tree < trees; tree++) {
            written.add("Tree=" + tree + "\nnum_leaves=" + leaves + "\nnum_cat=0"
                    + "\nsplit_feature=" + words(inner, i -> Integer.toString(random.nextInt(features)))
                    + "\nsplit_gain=" + words(inner, i -> "1")
                    + "\nthreshold=" + words(inner, i -> real(random.nextGaussian()))
                    + "\ndecision_type=" + words(inner, i -> "8")
                    + "\nleft_child=" + words(inner, i -> Integer.toString(child(2 * i + 1, inner)))
                    + "\nright_child=" + words(inner, i -> Integer.toString(child(2 * i + 2, inner)))
                    + "\nleaf_value=" + words(leaves, i -> real(random.nextGaussian() * 0.01))
                    + "\nleaf_weight=" + words(leaves, i -> "1")
                    + "\nleaf_count=" + words(leaves, i -> "1")
                    + "\ninternal_value=" + words(inner, i -> "0")
                    + "\ninternal_weight=" + words(inner, i -> "1")
                    + "\ninternal_count=" + words(inner, i -> "2")
                    + "\nis_linear=0\nshrinkage=1\n\n\n");
        }
        return Files.writeString(
                folder.resolve("model.txt"),
                "tree\nversion=v3\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx="
                        + (features - 1)
                        + "\nobjective=binary sigmoid:1\nfeature_names=" + words(features, i -> "f" + i)
                        + "\nfeature_infos=" + words(features, i -> "[-9:9]")
                        + "\ntree_sizes="
                        + String.join(
                                " ",
                                written.stream()
                                        .map(tree -> Integer.toString(tree.length()))
                                        .toList())
                        + "\n\n" + String.join("", written) + "end of trees\n\nfeature_importances:\n\nparameters:\n"
                        + "end of parameters\n\npandas_categorical:null\n");
    }

    private static int child(int node, int inner) {
        return node < inner ? node : ~(node - inner);
    }

    private static String real(double number) {
        return String.format(Locale.ROOT, "%.6f", number);
    }

    private static String array(int count, IntFunction<String> element) {
        return "[" + joined(count, element, ",") + "]";
    }

    private static String words(int count, IntFunction<String> element) {
        return joined(count, element, " ");
    }

    private static String joined(int count, IntFunction<String> element, String between) {
        List<String> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(element.apply(i));
        }
        return String.join(between, elements);
    }
}
