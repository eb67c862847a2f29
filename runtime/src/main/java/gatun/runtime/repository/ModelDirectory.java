// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.configuration.ConfigurationFile;
import java.io.IOException;
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
 * @param name the model's name, which is the directory's
 * @param path where it is
 */
record ModelDirectory(String name, Path path) {
    private static final Logger LOG = LoggerFactory.getLogger(ModelDirectory.class);

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
                                + " up to {}"
                                + " without leading zeros",
                        name,
                        directoryName,
                        Long.MAX_VALUE);
            }
        }
    }

    /** The directory of a version. */
    Path version(long number) {
        return path.resolve(Long.toString(number));
    }

    /** The version whose files complete the configuration: the first by name, as text. */
    Optional<Path> firstVersion() {
        return versions().stream()
                .map(number -> Long.toString(number))
                .min(Comparator.naturalOrder())
                .map(path::resolve);
    }

    private List<Path> subdirectories() {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(Files::isDirectory).toList();
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read the model's directory: " + e.getMessage());
        }
    }

    private static Optional<Long> versionNumber(String directoryName) {
        boolean leadingZero = directoryName.length() > 1 && directoryName.charAt(0) == '0';
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
