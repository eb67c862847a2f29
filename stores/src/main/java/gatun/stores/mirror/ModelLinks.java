// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import gatun.stores.cache.StoreCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A repository's folder as the server sees it: a link for each model to its latest state, replaced as a whole by one
 * rename. The state before stays until the next one comes, since a load may read it. Not thread-safe.
 */
final class ModelLinks {
    private final StoreCache cache;
    private final Path folder;
    private final Map<String, Path> current = new HashMap<>();
    private final Map<String, Path> previous = new HashMap<>();

    ModelLinks(StoreCache cache, String name) throws IOException {
        this.cache = cache;
        folder = cache.newParent().resolve(name);
    }

    Path folder() {
        return folder;
    }

    Set<String> models() {
        return new TreeSet<>(current.keySet());
    }

    /** The latest state of a model; empty where it has none. */
    Optional<Path> state(String model) {
        return Optional.ofNullable(current.get(model));
    }

    void point(String model, Path snapshot) throws IOException {
        Files.createDirectories(folder);
        Path link = folder.resolveSibling("link");
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, snapshot);
        Files.move(link, folder.resolve(model), StandardCopyOption.ATOMIC_MOVE);
        Path before = current.put(model, snapshot);
        if (before != null) {
            Path older = previous.put(model, before);
            if (older != null) {
                cache.discard(older);
            }
        }
    }

    void remove(String model) throws IOException {
        Files.deleteIfExists(folder.resolve(model));
        Path before = current.remove(model);
        Path older = previous.remove(model);
        for (Path gone : List.of(
                Optional.ofNullable(before).orElse(folder.resolveSibling("none")),
                Optional.ofNullable(older).orElse(folder.resolveSibling("none")))) {
            cache.discard(gone);
        }
    }
}
