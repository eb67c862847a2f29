// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the models in a folder that an archive was unpacked into. */
final class UnpackedModels {
    private static final Pattern VERSION = Pattern.compile("[0-9]+");

    private UnpackedModels() {}

    /**
     * The folders of models by name. An archive may hold a model's own files, folders of models, or one folder with
     * these.
     *
     * @param name what a model is called whose files lie in the archive without a folder
     * @param modelNames tells names of folders that may be models' from those that are never
     */
    static SortedMap<String, Path> find(Path unpacked, String name, Predicate<String> modelNames) throws IOException {
        SortedMap<String, Path> models = new TreeMap<>();
        if (isModel(unpacked, modelNames)) {
            models.put(name, unpacked);
            return models;
        }
        List<Path> folders = folders(unpacked, modelNames);
        if (folders.size() == 1
                && !isModel(folders.getFirst(), modelNames)
                && !folders(folders.getFirst(), modelNames).isEmpty()) {
            folders = folders(folders.getFirst(), modelNames);
        }
        folders.forEach(folder -> models.put(folder.getFileName().toString(), folder));
        return models;
    }

    private static boolean isModel(Path folder, Predicate<String> modelNames) throws IOException {
        return Files.exists(folder.resolve("config.pbtxt"))
                || folders(folder, modelNames).stream().anyMatch(version -> VERSION.matcher(
                                version.getFileName().toString())
                        .matches());
    }

    private static List<Path> folders(Path folder, Predicate<String> modelNames) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(Files::isDirectory)
                    .filter(entry -> modelNames.test(entry.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }
}
