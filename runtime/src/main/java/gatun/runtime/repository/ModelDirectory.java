// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.configuration.ConfigurationFile;
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
 * A directory that holds a model: {@code config.pbtxt}, label files, and one directory for each version.
 *
 * @param model the model's identity; in a repository, its name is the directory's
 * @param path where it is
 * @param listed whether a list names the model, and no repository holds it: then the name of a version may begin with
 *     zeros, as {@code 00000123}, and a directory without versions waits for the first
 */
record ModelDirectory(ModelIdentifier model, Path path, boolean listed) {
    private static final Logger LOG = LoggerFactory.getLogger(ModelDirectory.class);

    /** A model in a repository, where Triton's rule counts: a version has no leading zeros. */
    static ModelDirectory inRepository(ModelIdentifier model, Path path) {
        return new ModelDirectory(model, path, false);
    }

    /** A model that a list names, where TensorFlow Serving's rule counts: every number is a version. */
    static ModelDirectory listed(String name, Path path) {
        return new ModelDirectory(ModelIdentifier.of(name), path, true);
    }

    /** The model's name. */
    String name() {
        return model.name();
    }

    /**
     * The numbers of the versions that are here.
     *
     * @throws GatunException when the directory cannot be read
     */
    TreeSet<Long> versions() {
        TreeSet<Long> versions = new TreeSet<>();
        for (Path directory : subdirectories()) {
            versionNumber(directory.getFileName().toString()).ifPresent(versions::add);
        }
        return versions;
    }

    /** The size of all files of a version, in bytes. */
    long byteSize(long version) {
        try (Stream<Path> files = Files.walk(version(version))) {
            return files.map(Path::toFile)
                    .filter(File::isFile)
                    .mapToLong(File::length)
                    .sum();
        } catch (IOException | UncheckedIOException e) {
            throw GatunException.invalidArgument("cannot read the files of version " + version + ": " + e.getMessage());
        }
    }

    /** The state of a version's directory. */
    ModificationStamp stamp(long version) {
        return ModificationStamp.below(version(version), path -> false);
    }

    /** The state of the configuration's files. */
    ModificationStamp configurationStamp() {
        return ModificationStamp.below(path, child -> !isConfiguration(child));
    }

    /** The state of everything but the versions and the configuration. */
    ModificationStamp stamp() {
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

    /** Tells the operator what looks like a version and is none. */
    void warnOfOddNames() {
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

    private List<Path> subdirectories() {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(Files::isDirectory).toList();
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read the model's directory: " + e.getMessage());
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
