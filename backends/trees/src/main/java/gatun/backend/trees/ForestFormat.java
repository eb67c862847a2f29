// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** How a forest is written down, by the names that the parameter {@code model_type} of Triton's FIL backend has. */
enum ForestFormat {
    /** XGBoost's binary format, which its versions up to 3.0 write. */
    XGBOOST("xgboost", "xgboost.model", "XGBoost"),
    /** XGBoost's JSON. */
    XGBOOST_JSON("xgboost_json", "xgboost.json", "XGBoost"),
    /** XGBoost's UBJSON. */
    XGBOOST_UBJ("xgboost_ubj", "xgboost.ubj", "XGBoost"),
    /** LightGBM's text. */
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

    /** The value of {@code model_type}. */
    String type() {
        return type;
    }

    /** The name of the file where the configuration gives none. */
    String fileName() {
        return fileName;
    }

    /** The usual name of the library whose format it is. */
    String library() {
        return library;
    }

    /** The format that {@code model_type} calls so. */
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

    /** All values of {@code model_type}, for messages. */
    static String types() {
        return Arrays.stream(values()).map(ForestFormat::type).collect(Collectors.joining(", "));
    }
}
