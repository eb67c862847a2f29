// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ServedPath;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.ServedPath.ModelFolder;
import gatun.runtime.configuration.ConfigurationFile;
import gatun.runtime.configuration.EngineCatalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds out what an operator means by a path: a model repository, the folder of a model, or a loose model. Stateless. */
public final class ServedPaths {
    private static final String EXPECTED = "; expected a model repository (a folder with a folder for each model), the"
            + " folder of one model, a SavedModel's folder, or a model's file such as resnet.onnx";

    /** How many entries of a folder a text names at most. */
    private static final int NAMES = 5;

    private ServedPaths() {}

    /**
     * What lies at {@code path} now.
     *
     * @param engines those that may run what lies there
     * @throws GatunException NOT_FOUND when there is nothing, INVALID_ARGUMENT when it is nothing that can be served;
     *     the text says what was found, and what was expected
     */
    public static ServedPath read(EngineCatalog engines, Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        if (Files.isDirectory(path)) {
            return folder(engines, path, absolute);
        }
        if (!Files.exists(path)) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND, "there is no file and no folder '" + path + "'" + insteadOfNothing(path));
        }
        String fileName = absolute.getFileName().toString();
        if (engines.isInFolderOfModel(fileName) && absolute.getParent() != null) {
            return folderModel(engines, absolute.getParent());
        }
        if (!Files.isRegularFile(path) || engines.looseName(fileName).isEmpty()) {
            throw GatunException.invalidArgument("the file '" + path + "' is no model by its name" + EXPECTED);
        }
        return new LooseModel(fileName.substring(0, fileName.lastIndexOf('.')), 1, absolute);
    }

    private static ServedPath folder(EngineCatalog engines, Path path, Path absolute) {
        if (engines.folderName(path).isPresent()) {
            return folderModel(engines, absolute);
        }
        if (RepositoryAdvice.isModel(engines, path)) {
            return new ModelFolder(nameOf(absolute), path);
        }
        List<Path> entries = entries(path);
        if (entries.stream().anyMatch(entry -> couldBeModel(engines, entry))) {
            return new ServedPath.Repository(path);
        }
        throw GatunException.invalidArgument(
                "the folder '" + path + "' holds no model" + found(engines, path, entries));
    }

    /** A version's folder as TensorFlow Serving has it belongs to the model above it; any other has its own name. */
    private static LooseModel folderModel(EngineCatalog engines, Path folder) {
        Path parent = folder.getParent();
        String name = String.valueOf(folder.getFileName());
        if (parent != null && parent.getFileName() != null && name.matches("[0-9]{1,18}")) {
            return new LooseModel(parent.getFileName().toString(), Long.parseLong(name), folder);
        }
        return new LooseModel(engines.withoutFolderEnding(name), 1, folder);
    }

    /** The name that the configuration says, or else the folder's. */
    private static String nameOf(Path folder) {
        String folderName = String.valueOf(folder.getFileName());
        Path file = folder.resolve(ConfigurationFile.NAME);
        if (!Files.exists(file)) {
            return folderName;
        }
        try {
            String written = ConfigurationFile.read(file).getName();
            return written.isEmpty() ? folderName : written;
        } catch (GatunException e) {
            return folderName; // Loading it says what is wrong with the file.
        }
    }

    /** Whether a folder in a folder makes the outer one a repository: it is a model, or one in the wrong place. */
    private static boolean couldBeModel(EngineCatalog engines, Path folder) {
        return Files.isDirectory(folder)
                && ModelIdentifier.mayBeModel(folder.getFileName().toString())
                && (RepositoryAdvice.isModel(engines, folder)
                        || Files.isDirectory(folder.resolve(ConfigurationFile.FOLDER))
                        || !RepositoryAdvice.insteadOfVersions(engines, folder).isEmpty());
    }

    private static String found(EngineCatalog engines, Path folder, List<Path> entries) {
        if (entries.isEmpty()) {
            return ": it is empty" + EXPECTED + ". An empty repository that models come to later is served with"
                    + " --model-repository=" + folder;
        }
        List<Path> loose = entries.stream()
                .filter(entry -> isSurelyLoose(engines, entry.getFileName().toString()))
                .toList();
        if (!loose.isEmpty()) {
            return " in a folder of its own, but model files; name these themselves: " + names(loose);
        }
        return ": it holds " + names(entries.stream().map(Path::getFileName).toList()) + EXPECTED;
    }

    /** Whether a file is a model whatever else lies beside it, by its name. */
    private static boolean isSurelyLoose(EngineCatalog engines, String fileName) {
        return engines.looseName(fileName).isPresent()
                && engines.standardName(fileName).isPresent();
    }

    private static String names(List<Path> paths) {
        return paths.stream().limit(NAMES).map(Path::toString).collect(Collectors.joining(", "))
                + (paths.size() > NAMES ? ", ..." : "");
    }

    private static String insteadOfNothing(Path path) {
        return RepositoryAdvice.isInCloud(path) ? RepositoryAdvice.insteadOf(path) : EXPECTED;
    }

    private static List<Path> entries(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (IOException e) {
            throw GatunException.invalidArgument("the folder '" + folder + "' cannot be read: " + IoFailure.reason(e));
        }
    }
}
