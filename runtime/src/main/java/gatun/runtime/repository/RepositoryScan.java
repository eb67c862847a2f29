// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ModelIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Finds the models in the directories of a model repository. */
final class RepositoryScan {
    private RepositoryScan() {}

    /** The finding for a model. */
    sealed interface Finding {
        /** A model. */
        record Model(ModelDirectory directory) implements Finding {}

        /** A model that cannot be served, and why. */
        record Conflict(String reason) implements Finding {}
    }

    /** Every model in the directories, lists' excepted. Throws INVALID_ARGUMENT when a repository cannot be read. */
    static SortedMap<ModelIdentifier, Finding> scan(ModelLocations locations, boolean namespacing) {
        SortedMap<ModelIdentifier, Finding> found = new TreeMap<>();
        for (Path repository : locations.repositories()) {
            for (Path directory : directories(repository)) {
                String name = directory.getFileName().toString();
                ModelIdentifier model = new ModelIdentifier(namespacing ? repository.toString() : "", name);
                found.merge(
                        model,
                        new Finding.Model(ModelDirectory.inRepository(model, directory)),
                        (first, second) -> new Finding.Conflict(
                                "model '" + name + "' appears in two or more repositories; remove all but one"));
            }
        }
        locations.models().stream()
                .map(ModelDirectory::single)
                .filter(ModelDirectory::exists)
                .forEach(directory -> found.merge(
                        directory.model(),
                        new Finding.Model(directory),
                        (first, second) -> new Finding.Conflict("model '" + directory.name()
                                + "' is named more than once, by a path or in a repository; name it once")));
        return found;
    }

    private static List<Path> directories(Path repository) {
        if (!Files.isDirectory(repository)) {
            throw GatunException.invalidArgument("the model repository '" + repository + "' is not a directory"
                    + RepositoryAdvice.insteadOf(repository));
        }
        try (Stream<Path> entries = Files.list(repository)) {
            return entries.filter(Files::isDirectory)
                    .filter(entry ->
                            ModelIdentifier.mayBeModel(entry.getFileName().toString()))
                    .sorted(Comparator.naturalOrder())
                    .toList();
        } catch (IOException e) {
            throw GatunException.invalidArgument(
                    "cannot read the model repository '" + repository + "': " + IoFailure.reason(e));
        }
    }
}
