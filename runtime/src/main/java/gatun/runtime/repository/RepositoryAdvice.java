// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.configuration.ConfigurationFile;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.configuration.ModelFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Says what to do with paths and files that are no model as they lie. For operators; stateless. */
public final class RepositoryAdvice {
    /** How addresses in object stores begin. */
    private static final Set<String> CLOUDS = Set.of("s3:", "gs:", "as:");

    private RepositoryAdvice() {}

    static boolean isInCloud(Path path) {
        return CLOUDS.contains(scheme(path));
    }

    private static String scheme(Path path) {
        String name = path.toString();
        return name.substring(0, name.indexOf(':') + 1);
    }

    /** What to name instead of a path that is no directory; begins with {@code "; "}. */
    public static String insteadOf(Path repository) {
        return isInCloud(repository)
                ? "; expected a folder of this machine: fetch it first with 'gatun pull "
                        + repository.toString().replaceFirst(":/+", "://") + " DIR', and name that folder"
                : "; expected one with a sub-directory for each model";
    }

    /** What looks like a model in a repository and is none as it lies, and what to do with it. */
    public static List<String> remarks(EngineCatalog engines, Path repository) {
        List<String> remarks = new ArrayList<>();
        if (isModel(engines, repository)) {
            remarks.add(ofOneModel(
                    repository.toString(),
                    Optional.ofNullable(repository.toAbsolutePath().normalize().getParent())
                            .map(Path::toString)));
            return remarks;
        }
        for (Path file : entries(repository)) {
            String name = file.getFileName().toString();
            Optional<String> standard = engines.standardName(name);
            if (standard.isPresent() && Files.isRegularFile(file)) {
                String model = name.substring(0, name.lastIndexOf('.'));
                remarks.add(
                        file + " is not served as it lies there: a model is a folder with a folder for each version;"
                                + " move it to "
                                + repository.resolve(model).resolve("1").resolve(standard.get()));
            }
        }
        return remarks;
    }

    /** What to do with the folder of one model, named as a repository; it lies in {@code above}, if in any. */
    public static String ofOneModel(String folder, Optional<String> above) {
        return folder + " is the folder of one model, and not one that holds models; "
                + above.map(parent -> "name the folder above it: " + parent)
                        .orElse("move its files into a folder with the model's name");
    }

    /** Whether a folder is that of one model: it holds a configuration, or a version with a model's file. */
    static boolean isModel(EngineCatalog engines, Path directory) {
        return Files.isRegularFile(directory.resolve(ConfigurationFile.NAME))
                || entries(directory).stream()
                        .filter(Files::isDirectory)
                        .filter(entry -> entry.getFileName().toString().matches("[0-9]+"))
                        .anyMatch(entry -> ModelFiles.holdsModel(engines, entry));
    }

    /** What looks like a version and is none, and what to do; begins with {@code "; "}, empty for nothing. */
    static String insteadOfVersions(EngineCatalog engines, Path model) {
        for (Path entry : entries(model)) {
            String name = entry.getFileName().toString();
            Optional<String> standard = engines.standardName(name);
            if (standard.isPresent()) {
                return "; " + name + " lies outside of a version's folder: move it to 1/" + standard.get();
            }
            String digits = name.replaceFirst("^(v|V|version[-_]?)?0*", "");
            if (Files.isDirectory(entry) && digits.matches("[0-9]+") && !digits.equals(name)) {
                return "; folder '" + name + "' is no version: rename it to " + digits;
            }
        }
        return "";
    }

    private static List<Path> entries(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.sorted().toList();
        } catch (IOException e) {
            return List.of(); // Others report that.
        }
    }
}
