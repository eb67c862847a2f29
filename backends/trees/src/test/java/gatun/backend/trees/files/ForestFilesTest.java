// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Good files, and each kind of damage that would end a process in which the library read it. */
class ForestFilesTest {
    private static final Path MODELS = Path.of("..", "..", "examples", "trees", "models");
    private static final int CHANGES = 200;

    static List<Path> files() throws IOException {
        try (var files = Files.walk(MODELS)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static Path file(String model) throws IOException {
        return files().stream()
                .filter(file -> file.toString().contains("/" + model + "/"))
                .findFirst()
                .orElseThrow();
    }

    private static void check(Path name, byte[] content) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(Math.max(1, content.length)).asSlice(0, content.length);
            MemorySegment.copy(content, 0, bytes, ValueLayout.JAVA_BYTE, 0, content.length);
            String file = name.toString();
            if (file.endsWith(".txt")) {
                LightGbmFile.check(bytes);
            } else if (file.endsWith(".model")) {
                MemorySegment json = XGBoostBinary.toJson(bytes, arena);
                XGBoostFile.check(json.asSlice(0, json.byteSize() - 1), false);
            } else {
                XGBoostFile.check(bytes, file.endsWith(".ubj"));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void shouldFindNothingInGoodFiles(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        assertThatCode(() -> check(file, content)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @MethodSource("files")
    void shouldRefuseEveryBeginningOfAFile(Path file) throws IOException {
        byte[] whole = Files.readAllBytes(file);
        // Behind the trees, LightGBM's files have what only people read, and XGBoost's binary ones what can be made up
        // for.
        int end = file.toString().endsWith(".txt")
                ? new String(whole, ISO_8859_1).indexOf("end of trees")
                : file.toString().endsWith(".model") ? whole.length - 100 : whole.length;
        for (int length = 0; length < end; length += 1 + length / 40) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> check(file, part)).isInstanceOf(GatunException.class);
        }
    }

    /** The reader itself stands every change. */
    @ParameterizedTest
    @MethodSource("files")
    void shouldReadOnOrRefuseWhateverChanges(Path file) throws IOException {
        byte[] whole = Files.readAllBytes(file);
        Random random = new Random(17);
        int refused = 0;
        for (int i = 0; i < CHANGES; i++) {
            byte[] changed = whole.clone();
            for (int k = 0; k < 3; k++) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
            }
            try {
                check(file, changed);
            } catch (GatunException e) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            xgb_binary | "left_children":[1, | "left_children":[0, | tree 0: node 0 has child 0, expected 1 to 14
            xgb_binary | "left_children":[1, | "left_children":[99, | tree 0: node 0 has child 99
            xgb_binary | "left_children":[1, | "left_children":[2, | tree 0: node 2 is the child of two nodes
            xgb_binary | "left_children":[1, | "left_children":[-1, | tree 0: node 0 has one child, expected two or none
            xgb_binary | "left_children":[1, | "left_children":[ | tree 0: 'left_children' has 14 values, expected 15
            xgb_binary | "parents":[2147483647,0, | "parents":[2147483647,5, | tree 0: the children of node 0 name another
            xgb_binary | "parents":[2147483647,0, | "parents":[3,0, | tree 0: its first node has a parent
            xgb_binary | "split_indices":[0, | "split_indices":[6, | tree 0: 'split_indices' has 6, expected 0 to 5
            xgb_binary | "tree_info":[0, | "tree_info":[1, | the model: 'tree_info' has 1, expected 0 to 0
            xgb_binary | "num_trees":"5" | "num_trees":"6" | the model: 'num_trees' has 6 values, expected 5
            xgb_binary | "num_feature":"6","num_target" | "num_feature":"many","num_target" | 'many' where a number was expected
            xgb_binary | "size_leaf_vector":"1" | "size_leaf_vector":"9" | 'size_leaf_vector' has 9 values, expected 1
            xgb_binary | "trees": | "trunks": | it has no trees
            xgb_categorical | "categories_nodes":[1, | "categories_nodes":[0, | is decided by categories, and has none
            xgb_categorical | "categories_sizes":[5, | "categories_sizes":[500, | 'categories_sizes' has 500
            xgb_categorical | "categories":[0, | "categories":[-7, | 'categories' has -7, expected 0 to 16777216
            lgb_binary | Tree=3 | Bush=3 | there is no tree 3 at byte
            lgb_binary | num_leaves=6 | num_leaves=7 | tree 0: 'leaf_value' has 6 values, expected 7
            lgb_binary | left_child= | left_child=7 | tree 0: a node has child 7
            lgb_binary | shrinkage= | shrinkage=x | tree 0: 'shrinkage' has 'x
            lgb_binary | max_feature_idx=5 | max_feature_idx=4 | the model: 'feature_names' has 6 values, expected 5
            lgb_binary | num_class=1 | num_class=2 | 'num_tree_per_iteration' is not 'num_class', 2
            lgb_binary | is_linear=0 | is_linear | it has the line 'is_linear' where NAME=VALUE was expected
            lgb_classes | num_cat=1 | num_cat=0 | tree 0: 'threshold' has 0, expected 0 to -1
            lgb_linear | leaf_coeff= | leaf_coeff=e | 'leaf_coeff' has
            """)
    void shouldSayWhatIsWrong(String model, String right, String wrong, String reason) throws IOException {
        Path file = file(model);
        String text = Files.readString(file, ISO_8859_1);
        assertThat(text).contains(right);
        String changed = text.replaceFirst(Pattern.quote(right), wrong);
        assertThatThrownBy(() -> check(file, changed.getBytes(ISO_8859_1)))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void shouldRefuseDeepDocuments() {
        for (String end : List.of("json", "ubj")) {
            assertThatThrownBy(() -> check(
                            Path.of("deep." + end),
                            ("{" + (end.equals("json") ? "\"a\":" : "L\0\0\0\0\0\0\0\1a") + "[".repeat(100_000))
                                    .getBytes(ISO_8859_1)))
                    .hasMessageContaining("within more than 32 others");
        }
    }
}
