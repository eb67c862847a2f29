// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.xgboost.xgboost_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** XGBoost's C library. Usable from any thread once it is open; it lives as long as the process. */
public final class XGBoost {
    /** The library's usual name. */
    public static final String NAME = "XGBoost";

    private static final List<String> FUNCTIONS = List.of(
            "XGBoostVersion",
            "XGBGetLastError",
            "XGBSetGlobalConfig",
            "XGBoosterCreate",
            "XGBoosterFree",
            "XGBoosterLoadModelFromBuffer",
            "XGBoosterSetParam",
            "XGBoosterGetNumFeature",
            "XGBoosterSaveJsonConfig",
            "XGBoosterPredictFromDense",
            "XGBoosterPredictFromDMatrix",
            "XGDMatrixCreateFromDense",
            "XGDMatrixFree");

    /** What {@code ./gatun install xgboost} makes in the user's cache; the name is that in XGBoost's own Java package. */
    private static final String FILE = "xgboost/libxgboost4j.so";

    private XGBoost() {}

    /** The library in a cache; empty when it was not installed. */
    public static Optional<Path> installed(LibraryCache cache) {
        return Optional.of(cache.folder().resolve(FILE)).filter(Files::isRegularFile);
    }

    /** Opens the library in the file {@code path}. */
    public static NativeLibrary open(Path path) {
        return OpenMp.open(NAME, path, FUNCTIONS);
    }

    /** The version of the library, which is open, such as {@code 3.4.0}. */
    public static String version() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment parts = scratch.allocate(ValueLayout.JAVA_INT, 3);
            xgboost_h.XGBoostVersion(parts, parts.asSlice(Integer.BYTES), parts.asSlice(2 * Integer.BYTES));
            return parts.getAtIndex(ValueLayout.JAVA_INT, 0) + "." + parts.getAtIndex(ValueLayout.JAVA_INT, 1) + "."
                    + parts.getAtIndex(ValueLayout.JAVA_INT, 2);
        }
    }
}
