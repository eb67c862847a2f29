// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.bindings.LibraryCache;
import gatun.bindings.LightGbm;
import gatun.bindings.NativeLibrary;
import gatun.bindings.XGBoost;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Setting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The libraries that run forests, each opened by the first model that needs it. Thread-safe. */
final class Libraries {
    static final String XGBOOST = "xgboost-library";
    static final String LIGHTGBM = "lightgbm-library";

    private static final Logger LOG = LoggerFactory.getLogger(Libraries.class);

    private final Library xgboost;
    private final Library lightGbm;

    /** Prepares both, from these files or where a name is empty, the installed ones. */
    Libraries(String xgboost, String lightGbm, LibraryCache cache) {
        this.xgboost =
                new Library(XGBoost.NAME, XGBOOST, xgboost, "xgboost", () -> XGBoost.installed(cache), XGBoost::open);
        this.lightGbm = new Library(
                LightGbm.NAME, LIGHTGBM, lightGbm, "lightgbm", () -> LightGbm.installed(cache), LightGbm::open);
    }

    /** Opens the library that reads {@code format}, unless it is open. Throws UNAVAILABLE with how to install it. */
    void open(ForestFormat format) {
        (format == ForestFormat.LIGHTGBM ? lightGbm : xgboost).open();
    }

    /** One library. The lock is held while it is loaded, which happens once. */
    private static final class Library {
        private final String name;
        private final String option;
        private final String chosen;
        private final String command;
        private final Supplier<Optional<Path>> installed;
        private final Function<Path, NativeLibrary> opening;
        private final ReentrantLock lock = new ReentrantLock();

        /** Guarded by {@link #lock}. */
        private boolean isOpen;

        Library(
                String name,
                String option,
                String chosen,
                String command,
                Supplier<Optional<Path>> installed,
                Function<Path, NativeLibrary> opening) {
            this.name = name;
            this.option = option;
            this.chosen = chosen;
            this.command = command;
            this.installed = installed;
            this.opening = opening;
        }

        void open() {
            lock.lock();
            try {
                if (!isOpen) {
                    switch (opening.apply(path())) {
                        case NativeLibrary.Available available -> LOG.info("{} from {}", name, available.path());
                        case NativeLibrary.Missing missing ->
                            throw new GatunException(ErrorCode.UNAVAILABLE, missing.toString());
                    }
                    isOpen = true;
                }
            } finally {
                lock.unlock();
            }
        }

        private Path path() {
            if (chosen.isEmpty()) {
                return installed
                        .get()
                        .orElseThrow(() -> new GatunException(
                                ErrorCode.UNAVAILABLE,
                                name + " is not installed; install it with './gatun install " + command
                                        + "', or name its library with "
                                        + Setting.backendOption(TreesBackend.NAME, option, "PATH")));
            }
            Path path = Path.of(chosen);
            if (!Files.isRegularFile(path)) {
                throw new GatunException(
                        ErrorCode.UNAVAILABLE,
                        name + " not available: " + Setting.backendOption(TreesBackend.NAME, option, chosen)
                                + " names no file");
            }
            return path;
        }
    }
}
