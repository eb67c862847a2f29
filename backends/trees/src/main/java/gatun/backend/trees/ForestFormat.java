// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** How a forest is written down, by the names that the parameter {@code model_type} of Triton's FIL backend has. */
enum ForestFormat {
    /** XGBoost's binary format, which its versions up to 3.0 write. */
    XGBOOST("xgboost", "xgboost.model", "XGBoost"),
    XGBOOST_JSON("xgboost_json", "xgboost.json", "XGBoost"),
    XGBOOST_UBJ("xgboost_ubj", "xgboost.ubj", "XGBoost"),
    LIGHTGBM("lightgbm", "model.txt", "LightGBM"),
    /** Treelite's, which no library here reads. */
    TREELITE("treelite_checkpoint", "checkpoint.tl", "Treelite");

    private final String type;
    private final String fileName;
    private final String library;

    ForestFormat(String type, String fileName, String library) {
        this.type = type;
        this.fileName = fileName;
        this.library = library;
    }

    String type() {
        return type;
    }

    String fileName() {
        return fileName;
    }

    String library() {
        return library;
    }

    static Optional<ForestFormat> ofType(String type) {
        return Arrays.stream(values())
                .filter(format -> format.type.equals(type))
                .findFirst();
    }

    /** The format of a file of another name, by its end. */
    static Optional<ForestFormat> ofFile(String fileName) {
        String end = fileName.substring(fileName.lastIndexOf('.') + 1);
        return Arrays.stream(values())
                .filter(format -> format.fileName.endsWith("." + end))
                .findFirst();
    }

    static String types() {
        return Arrays.stream(values()).map(ForestFormat::type).collect(Collectors.joining(", "));
    }
}
