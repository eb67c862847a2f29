// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import gatun.stores.archive.ArchiveSource;
import gatun.stores.archive.Unpacking;
import gatun.stores.cache.StoreCache;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoredObject;
import gatun.stores.location.ArchiveLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A folder that is kept equal to what an archive holds. All models of it change at once, as the archive does. */
final class ArchiveMirror implements Mirror {
    private static final Logger LOG = LoggerFactory.getLogger(ArchiveMirror.class);

    private final ArchiveLocation location;
    private final StoreMirror.Scope scope;
    private final ArchiveSource source;
    private final StoreCache cache;
    private final FetchProgress progress;
    private final Predicate<String> modelNames;
    private final ModelLinks links;
    private final ReentrantLock lock = new ReentrantLock();

    /** The archive that is linked; empty before the first. Guarded by the lock, as below. */
    private Optional<StoredObject> current = Optional.empty();

    /** The archive that was refused last, and why, so that it is not unpacked again at each look. */
    private Optional<Refusal> refused = Optional.empty();

    private record Refusal(StoredObject archive, StoreException reason) {}

    private Optional<Path> held = Optional.empty();

    /** Owns {@code source}. */
    ArchiveMirror(
            ArchiveLocation location,
            StoreMirror.Scope scope,
            ArchiveSource source,
            StoreCache cache,
            FetchProgress progress,
            Predicate<String> modelNames)
            throws IOException {
        this.location = location;
        this.scope = scope;
        this.source = source;
        this.cache = cache;
        this.progress = progress;
        this.modelNames = modelNames;
        links = new ModelLinks(cache, scope == StoreMirror.Scope.MODEL ? "model" : location.name());
    }

    @Override
    public Path folder() {
        return scope == StoreMirror.Scope.MODEL ? links.folder().resolve(location.name()) : links.folder();
    }

    private String savedKey() {
        return StoreCache.key(location.text(), "archive");
    }

    private String key(StoredObject archive) {
        return StoreCache.key(location.text(), archive.etag(), Long.toString(archive.byteSize()));
    }

    @Override
    public void start() throws IOException {
        lock.lock();
        try {
            refresh();
        } catch (StoreException e) {
            Optional<StoredObject> saved = saved();
            if (e.kind() != Kind.UNAVAILABLE || saved.isEmpty()) {
                throw e;
            }
            link(saved.get());
            LOG.warn(
                    "{} cannot be reached; it is taken from the cache as it was when it was last fetched: {}",
                    location.text(),
                    e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    private Optional<StoredObject> saved() {
        return cache.recall(savedKey())
                .map(text -> text.text().split("\n", 2))
                .filter(lines -> lines.length == 2 && lines[0].matches("[0-9]{1,18}"))
                .map(lines -> new StoredObject(location.text(), lines[1], Long.parseLong(lines[0]), List.of()))
                .filter(archive -> cache.holds(key(archive), archive.byteSize()));
    }

    @Override
    public void refreshNames() throws IOException {
        refresh();
    }

    @Override
    public void refresh(String model) throws IOException {
        refresh();
    }

    @Override
    public void refresh() throws IOException {
        lock.lock();
        try {
            StoredObject archive = source.look();
            if (current.equals(Optional.of(archive))) {
                return;
            }
            if (refused.isPresent() && refused.get().archive().equals(archive)) {
                throw refused.get().reason();
            }
            if (!cache.holds(key(archive), archive.byteSize())) {
                cache.makeRoom(archive.byteSize(), Set.of());
                Path staged = cache.staging();
                try (FetchProgress.Fetch fetch =
                        progress.begin(location.text(), Set.copyOf(links.models()), 1, archive.byteSize())) {
                    source.fetch(archive, staged, fetch::add);
                    cache.admit(staged, key(archive));
                } finally {
                    Files.deleteIfExists(staged);
                }
            }
            link(archive);
            cache.remember(savedKey(), archive.byteSize() + "\n" + archive.etag());
        } finally {
            lock.unlock();
        }
    }

    private void link(StoredObject archive) throws IOException {
        Path holder = cache.newParent();
        Path file = holder.resolve("archive");
        if (!cache.link(key(archive), archive.byteSize(), file)) {
            throw new StoreException(Kind.UNAVAILABLE, location.text() + " was removed from the cache meanwhile");
        }
        Path unpacked = cache.newSnapshot();
        SortedMap<String, Path> models;
        try {
            models = unpack(file, unpacked);
        } catch (IOException e) {
            cache.discard(unpacked);
            cache.discard(holder);
            if (e instanceof StoreException reason && reason.kind() != Kind.UNAVAILABLE) {
                refused = Optional.of(new Refusal(archive, reason));
            }
            throw e;
        }
        refused = Optional.empty();
        for (Map.Entry<String, Path> model : models.entrySet()) {
            links.point(scope == StoreMirror.Scope.MODEL ? location.name() : model.getKey(), model.getValue());
        }
        for (String model : links.models()) {
            if (scope == StoreMirror.Scope.REPOSITORY && !models.containsKey(model)) {
                links.remove(model);
            }
        }
        if (held.isPresent()) {
            cache.discard(held.get());
        }
        held = Optional.of(holder);
        current = Optional.of(archive);
    }

    private SortedMap<String, Path> unpack(Path file, Path target) throws IOException {
        Unpacking.unpack(file, location.format(), target, cache.byteLimit());
        SortedMap<String, Path> models = UnpackedModels.find(target, location.name(), modelNames);
        if (models.isEmpty() || (scope == StoreMirror.Scope.MODEL && models.size() > 1)) {
            throw new StoreException(
                    Kind.MALFORMED,
                    location.text() + " holds " + models.size() + " models; expected "
                            + (scope == StoreMirror.Scope.MODEL ? "one" : "a folder for each"));
        }
        return models;
    }

    @Override
    public boolean holdsOneModel() {
        return false;
    }

    @Override
    public Map<String, String> failures() {
        return Map.of();
    }

    @Override
    public void close() {
        source.close();
    }

    /** Finds the models in a folder that an archive was unpacked into. */
    static final class UnpackedModels {
        private static final Pattern VERSION = Pattern.compile("[0-9]+");

        private UnpackedModels() {}

        /** Models by name. An archive holds model folders, one folder of them, or the files of model {@code name}. */
        static SortedMap<String, Path> find(Path unpacked, String name, Predicate<String> modelNames)
                throws IOException {
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
}
