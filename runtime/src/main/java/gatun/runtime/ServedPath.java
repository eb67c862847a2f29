// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** What lies at a path that an operator names to be served. */
public sealed interface ServedPath {
    /** A model repository, whose {@code folder} holds one folder for each model. */
    record Repository(Path folder) implements ServedPath {
        /** Checks that nothing is missing. */
        public Repository {
            Objects.requireNonNull(folder, "folder");
        }
    }

    /** One model, outside of a repository. */
    sealed interface SingleModel extends ServedPath {
        /** The model's name for clients. */
        String name();
    }

    /** The folder of one model, laid out as in a repository; its name may be another. */
    record ModelFolder(String name, Path folder) implements SingleModel {
        /** Checks that nothing is missing. */
        public ModelFolder {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(folder, "folder");
        }
    }

    /**
     * A model's file, or a SavedModel's folder, absolute, served from where it lies as the only version. There is no
     * configuration: what an engine needs to know is in the model.
     */
    record LooseModel(String name, long version, Path path) implements SingleModel {
        /** Checks that nothing is missing. */
        public LooseModel {
            Objects.requireNonNull(name, "name");
            if (!path.isAbsolute()) {
                throw new IllegalArgumentException("the path of a loose model is absolute, and not " + path);
            }
        }

        /** What an engine gets as the version's folder: that which holds the file, or the SavedModel's own. */
        public Path versionFolder() {
            Path parent = path.getParent();
            return parent == null || Files.isDirectory(path) ? path : parent;
        }

        /** The file's name in that folder; empty for a SavedModel, whose name engines know. */
        public Optional<String> fileName() {
            return Files.isDirectory(path)
                    ? Optional.empty()
                    : Optional.of(path.getFileName().toString());
        }
    }
}
