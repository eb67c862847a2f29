// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static java.nio.charset.StandardCharsets.US_ASCII;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Knows models by the names and first bytes of their files, to explain why no engine takes them. Stateless. */
public final class ModelFiles {
    /** How the file begins that stands for one in Git's Large File Storage. */
    private static final byte[] POINTER = "version https://git-lfs.github.com/spec/".getBytes(US_ASCII);

    /** Pointers are never longer. */
    private static final long POINTER_BYTE_LIMIT = 1024;

    private ModelFiles() {}

    /** The name of the first file or folder in {@code directory} that looks like a model; empty when none does. */
    private static Optional<String> modelIn(EngineCatalog engines, Path directory) {
        return names(directory).stream()
                .filter(name -> engines.standardName(name).isPresent())
                .findFirst();
    }

    /** Whether a version's folder holds a model: a file that an engine looks for, or a misnamed one. */
    public static boolean holdsModel(EngineCatalog engines, Path versionDirectory) {
        return names(versionDirectory).stream()
                .anyMatch(name ->
                        engines.tellsBackend(name) || engines.standardName(name).isPresent());
    }

    /** Advice on a model in a version's folder under another name; begins with {@code "; "}, empty for none. */
    static String otherName(EngineCatalog engines, Path versionDirectory, String expected) {
        return modelIn(engines, versionDirectory)
                .filter(name -> !name.equals(expected))
                .map(name -> "; the version's folder holds '" + name + "': rename it to "
                        + engines.standardName(name).orElseThrow() + ", or write default_model_filename: \"" + name
                        + "\" in config.pbtxt")
                .orElse("");
    }

    /** Why no engine can read the files of a version, and what to do; empty where nothing is wrong at first sight. */
    public static Optional<String> fault(EngineCatalog engines, Path versionDirectory) {
        return names(versionDirectory).stream()
                .flatMap(name -> faultOf(engines, versionDirectory.resolve(name)).stream())
                .findFirst();
    }

    /** The same of one file, or of a model's folder in that of the version. */
    public static Optional<String> faultOf(EngineCatalog engines, Path file) {
        String name = file.getFileName().toString();
        if (Files.isDirectory(file)) {
            return engines.standardName(name).isPresent() ? fault(engines, file) : Optional.empty();
        }
        if (Files.isRegularFile(file)) {
            long byteSize = byteSize(file);
            if (byteSize == 0 && engines.standardName(name).isPresent()) {
                return Optional.of(name + " is empty; copy the model's file here again");
            }
            if (byteSize <= POINTER_BYTE_LIMIT && isPointer(file)) {
                return Optional.of(name + " is a Git LFS pointer of " + byteSize
                        + " bytes and not the file itself; run 'git lfs pull' where it was cloned");
            }
        }
        return Optional.empty();
    }

    private static boolean isPointer(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Arrays.equals(in.readNBytes(POINTER.length), POINTER);
        } catch (IOException e) {
            return false; // The engine says why it cannot be read.
        }
    }

    private static long byteSize(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return -1; // The engine says why it cannot be read.
        }
    }

    /** The names in a directory, in their order; none where it cannot be read, which others report. */
    private static List<String> names(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Checks the names of a model's own files in its configuration, which a client may have sent: they stay in the
     * version's folder. Only the text is looked at, so that a refusal says nothing of what is on the server; links are
     * those that the operator has made. Files of labels, warm-ups and initial states are checked where they are read.
     */
    public static final class FileNames {
        private FileNames() {}

        /** @throws ConfigurationException with the first name that leads out of its folder */
        static void check(ModelConfig config) {
            require("default_model_filename", config.getDefaultModelFilename());
            config.getCcModelFilenamesMap().values().forEach(name -> require("cc_model_filenames", name));
        }

        private static void require(String field, String name) {
            if (!staysInside(name)) {
                throw new ConfigurationException(
                        ConfigurationPath.of(field),
                        "'" + field + "' is '" + name.replace('\0', '?')
                                + "', which may lead out of the model's folder; expected a relative path without '..'");
            }
        }

        /** Whether a name leads to what is below the folder that it is looked up in, links apart. */
        public static boolean staysInside(String name) {
            if (name.startsWith("/") || name.indexOf('\0') >= 0 || name.indexOf('\\') >= 0) {
                return false;
            }
            for (String part : name.split("/", -1)) {
                if (part.equals("..")) {
                    return false;
                }
            }
            return true;
        }
    }
}
