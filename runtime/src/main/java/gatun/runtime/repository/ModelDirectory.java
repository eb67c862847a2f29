// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.ServedPath.ModelFolder;
import gatun.runtime.ServedPath.SingleModel;
import gatun.runtime.configuration.ConfigurationFile;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.configuration.ModelFiles;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory that holds a model: {@code config.pbtxt}, label files, and one directory for each version. A {@code
 * loose} model has none of these: its own file or folder, {@code path}, is the only version, and no client's
 * configuration reaches the files beside it. {@code listed}, by a list and in no repository: version names may have
 * leading zeros, as {@code 00000123}, and a directory without versions waits for the first.
 */
record ModelDirectory(ModelIdentifier model, Path path, boolean listed, Optional<LooseModel> loose) {
    private static final Logger LOG = LoggerFactory.getLogger(ModelDirectory.class);

    /** A model in a repository, where Triton's rule counts: a version has no leading zeros. */
    static ModelDirectory inRepository(ModelIdentifier model, Path path) {
        return new ModelDirectory(model, path, false, Optional.empty());
    }

    /** A model that a list names, where TensorFlow Serving's rule counts: every number is a version. */
    static ModelDirectory listed(String name, Path path) {
        return new ModelDirectory(ModelIdentifier.of(name), path, true, Optional.empty());
    }

    /** A model that an operator names by its path; in the folder of one, Triton's rules count. */
    static ModelDirectory single(SingleModel single) {
        ModelIdentifier model = ModelIdentifier.of(single.name());
        return switch (single) {
            case ModelFolder folder -> inRepository(model, folder.folder());
            case LooseModel loose -> new ModelDirectory(model, loose.path(), false, Optional.of(loose));
        };
    }

    /** Whether there is anything yet, or any more. */
    boolean exists() {
        return Files.exists(path);
    }

    String name() {
        return model.name();
    }

    /** The numbers of the versions that are here. Throws {@link GatunException} when the directory cannot be read. */
    TreeSet<Long> versions() {
        TreeSet<Long> versions = new TreeSet<>();
        if (loose.isPresent()) {
            versions.add(loose.get().version());
            return versions;
        }
        for (Path directory : subdirectories()) {
            versionNumber(directory.getFileName().toString()).ifPresent(versions::add);
        }
        return versions;
    }

    long byteSize(long version) {
        try (Stream<Path> files = Files.walk(loose.isPresent() ? path : version(version))) {
            return files.map(Path::toFile)
                    .filter(File::isFile)
                    .mapToLong(File::length)
                    .sum();
        } catch (IOException | UncheckedIOException e) {
            throw GatunException.invalidArgument(
                    "cannot read the files of version " + version + ": " + IoFailure.describe(e));
        }
    }

    /** As {@link #byteSize}; 0 where not all of them can be looked at. */
    long byteSizeIfReadable(long version) {
        try {
            return byteSize(version);
        } catch (GatunException unknown) {
            return 0;
        }
    }

    ModificationStamp stamp(long version) {
        return loose.map(model -> ModificationStamp.of(model.path()))
                .orElseGet(() -> ModificationStamp.below(version(version), path -> false));
    }

    ModificationStamp configurationStamp() {
        return loose.isPresent()
                ? ModificationStamp.NOTHING
                : ModificationStamp.below(path, child -> !isConfiguration(child));
    }

    /** The state of everything but the versions and the configuration. */
    ModificationStamp stamp() {
        if (loose.isPresent()) {
            return ModificationStamp.NOTHING;
        }
        return ModificationStamp.below(
                path,
                child -> isConfiguration(child)
                        || (Files.isDirectory(child)
                                && versionNumber(child.getFileName().toString()).isPresent()));
    }

    private static boolean isConfiguration(Path child) {
        String fileName = child.getFileName().toString();
        return fileName.equals(ConfigurationFile.NAME) || fileName.equals(ConfigurationFile.FOLDER);
    }

    /** Tells the operator what looks like a version and is none, or like the configuration beside the one that is read. */
    void warnOfOddNames() {
        if (loose.isPresent()) {
            return;
        }
        ConfigurationFile.misplaced(path).ifPresent(misplaced -> LOG.warn("Model '{}': {}", model, misplaced));
        for (Path directory : subdirectories()) {
            String directoryName = directory.getFileName().toString();
            if (!directoryName.isEmpty()
                    && Character.isDigit(directoryName.charAt(0))
                    && versionNumber(directoryName).isEmpty()) {
                LOG.warn(
                        "Model '{}': directory '{}' is no version and is left alone; a version is a decimal number"
                                + " up to {}{}",
                        model,
                        directoryName,
                        Long.MAX_VALUE,
                        listed ? "" : " without leading zeros");
            }
        }
    }

    /** The directory of a version; of several, the one with the fewest zeros. */
    Path version(long number) {
        if (loose.isPresent()) {
            return loose.get().versionFolder();
        }
        Path plain = path.resolve(Long.toString(number));
        if (!listed || Files.isDirectory(plain)) {
            return plain;
        }
        return subdirectories().stream()
                .filter(directory ->
                        versionNumber(directory.getFileName().toString()).equals(Optional.of(number)))
                .min(Comparator.comparingInt(
                        directory -> directory.getFileName().toString().length()))
                .orElse(plain);
    }

    /** Why no engine can read the files of a version, and what to do; empty where nothing is wrong at first sight. */
    Optional<String> fault(EngineCatalog engines, long version) {
        return loose.isPresent() && loose.get().fileName().isPresent()
                ? ModelFiles.faultOf(engines, loose.get().path())
                : ModelFiles.fault(engines, version(version));
    }

    private List<Path> subdirectories() {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(Files::isDirectory).toList();
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read the model's directory: " + IoFailure.describe(e));
        }
    }

    private Optional<Long> versionNumber(String directoryName) {
        boolean leadingZero = !listed && directoryName.length() > 1 && directoryName.charAt(0) == '0';
        boolean decimal = !directoryName.isEmpty() && directoryName.chars().allMatch(c -> c >= '0' && c <= '9');
        if (leadingZero || !decimal) {
            return Optional.empty();
        }
        try {
            return Optional.of(Long.parseLong(directoryName));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
