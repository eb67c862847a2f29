// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** LightGBM's C library. Usable from any thread once it is open; it lives as long as the process. */
public final class LightGbm {
    /** The library's usual name. */
    public static final String NAME = "LightGBM";

    private static final List<String> FUNCTIONS = List.of(
            "LGBM_GetLastError",
            "LGBM_BoosterLoadModelFromString",
            "LGBM_BoosterFree",
            "LGBM_BoosterGetNumFeature",
            "LGBM_BoosterNumberOfTotalModel",
            "LGBM_BoosterCalcNumPredict",
            "LGBM_BoosterPredictForMat",
            "LGBM_BoosterPredictForMatSingleRowFastInit",
            "LGBM_BoosterPredictForMatSingleRowFast",
            "LGBM_FastConfigFree");

    /** What {@code ./gatun install lightgbm} makes in the user's cache. */
    private static final String FILE = "lightgbm/lib_lightgbm.so";

    private LightGbm() {}

    /** The library in a cache; empty when it was not installed. */
    public static Optional<Path> installed(LibraryCache cache) {
        return Optional.of(cache.folder().resolve(FILE)).filter(Files::isRegularFile);
    }

    /** Opens the library in the file {@code path}. */
    public static NativeLibrary open(Path path) {
        return OpenMp.open(NAME, path, FUNCTIONS);
    }
}
