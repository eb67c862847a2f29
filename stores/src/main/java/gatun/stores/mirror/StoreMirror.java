// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import gatun.stores.cache.StoreCache;
import gatun.stores.client.JsonTree;
import gatun.stores.client.ObjectPath;
import gatun.stores.client.ObjectStore;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoredObject;
import gatun.stores.location.StoreLocation;
import gatun.stores.mirror.Mirrors.Fetching;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A folder that mirrors a repository or model, each model as a whole, once checked. */
public final class StoreMirror implements Mirror {
    private static final Logger LOG = LoggerFactory.getLogger(StoreMirror.class);

    private static final Pattern VERSION_FOLDER = Pattern.compile("[0-9]+/");

    private final StoreLocation location;
    private final Scope scope;
    private final ObjectStore store;
    private final StoreCache cache;
    private final ObjectFetch fetch;
    private final ModelLinks links;
    private final Predicate<String> modelNames;
    private final ReentrantLock lock = new ReentrantLock();

    /** What is linked. Guarded by the lock, as all below. */
    private final SortedMap<String, ModelTree> trees = new TreeMap<>();

    private boolean holdsOneModel;

    /** The last reason of each model that could not be fetched, so that each is logged once. */
    private final Map<String, String> reasons = new HashMap<>();

    /** What a location holds. */
    public enum Scope {
        /** A folder for each model. */
        REPOSITORY,
        /** The files of one model. */
        MODEL
    }

    /** Owns {@code store}, not {@code cache}. {@code modelNames} accepts names of folders that may be models'. */
    StoreMirror(
            StoreLocation location,
            Scope scope,
            ObjectStore store,
            StoreCache cache,
            Fetching fetching,
            Predicate<String> modelNames)
            throws IOException {
        this.location = location;
        this.scope = scope;
        this.store = store;
        this.cache = cache;
        this.modelNames = modelNames;
        String identity =
                location.kind() + " " + location.endpoint() + " " + location.account() + " " + location.bucket();
        fetch = new ObjectFetch(store, identity, cache, fetching.threads(), fetching.progress());
        links = new ModelLinks(cache, scope == Scope.MODEL ? "model" : location.name());
    }

    @Override
    public Path folder() {
        return scope == Scope.MODEL ? links.folder().resolve(location.name()) : links.folder();
    }

    @Override
    public void start() throws IOException {
        lock.lock();
        try {
            refresh();
        } catch (StoreException e) {
            takeFromCache(e);
        } finally {
            lock.unlock();
        }
    }

    /** Links the models that the cache holds as a whole, for a store that does not answer. */
    private void takeFromCache(StoreException failure) throws IOException {
        if (failure.kind() != Kind.UNAVAILABLE || !trees.isEmpty()) {
            throw failure;
        }
        Optional<StoreCache.Remembered> saved = cache.recall(listingKey());
        SortedMap<String, ModelTree> models =
                saved.flatMap(text -> SavedListing.read(text.text())).orElse(new TreeMap<>());
        models.values().removeIf(tree -> !tree.files().values().stream().allMatch(fetch::holds));
        if (models.isEmpty()) {
            throw failure;
        }
        for (Map.Entry<String, ModelTree> model : models.entrySet()) {
            link(model.getKey(), model.getValue());
        }
        LOG.warn(
                "{} cannot be reached; its {} models of {} are taken from the cache: {}",
                location.text(),
                models.size(),
                saved.orElseThrow().time(),
                failure.getMessage());
    }

    private String listingKey() {
        return StoreCache.key(location.text(), scope.name());
    }

    @Override
    public void refreshNames() throws IOException {
        lock.lock();
        try {
            Set<String> folders = store.folders(location.prefix());
            holdsOneModel = scope == Scope.REPOSITORY
                    && !folders.isEmpty()
                    && folders.stream().allMatch(folder -> VERSION_FOLDER
                            .matcher(folder.substring(
                                    Math.min(folder.length(), location.prefix().length())))
                            .matches());
            for (String folder : folders) {
                String name = folder.substring(
                        Math.min(folder.length(), location.prefix().length()),
                        folder.endsWith("/") ? folder.length() - 1 : folder.length());
                if (isName(name) && links.state(name).isEmpty()) {
                    links.point(name, cache.newSnapshot());
                }
            }
        } catch (StoreException e) {
            takeFromCache(e);
        } finally {
            lock.unlock();
        }
    }

    private boolean isName(String name) {
        try {
            ObjectPath.require(name, name);
            return name.indexOf('/') < 0 && modelNames.test(name);
        } catch (StoreException e) {
            return false;
        }
    }

    @Override
    public void refresh() throws IOException {
        lock.lock();
        try {
            if (!follow(list()).isEmpty()) {
                // Something changed while it was listed or fetched: once more, and then at the next look.
                follow(list());
            }
        } finally {
            lock.unlock();
        }
    }

    private ModelTree.Listing list() throws IOException {
        List<StoredObject> objects = store.list(location.prefix());
        if (scope == Scope.MODEL) {
            ModelTree tree = ModelTree.model(location.prefix(), objects);
            SortedMap<String, ModelTree> only = new TreeMap<>();
            if (!tree.files().isEmpty()) {
                only.put(location.name(), tree);
            }
            return new ModelTree.Listing(only, new TreeMap<>());
        }
        holdsOneModel = ModelTree.isOneModel(location.prefix(), objects);
        return ModelTree.models(location.prefix(), objects, modelNames);
    }

    /** Fetches and links what has changed. Returns the models that changed once more meanwhile. */
    private Set<String> follow(ModelTree.Listing listing) throws IOException {
        if (listing.trees().isEmpty() && listing.refused().isEmpty()) {
            if (trees.isEmpty()) {
                throw new StoreException(Kind.ABSENT, location.text() + " holds no models: check the path");
            }
            // As a store lists that has lost its disks, or whose bucket was made anew.
            note("", location.text() + " lists no models any more; those that it had are left as they are");
            return Set.of();
        }
        reasons.remove("");
        listing.refused().forEach(this::note);
        SortedMap<String, ModelTree> changed = new TreeMap<>(listing.trees());
        changed.entrySet().removeIf(model -> model.getValue().equals(trees.get(model.getKey())));
        Set<String> again = fetchAndLink(changed);
        boolean removed = false;
        for (String model : links.models()) {
            if (!listing.trees().containsKey(model) && !listing.refused().containsKey(model)) {
                links.remove(model);
                trees.remove(model);
                reasons.remove(model);
                removed = true;
            }
        }
        if (!changed.isEmpty() || removed) {
            cache.remember(listingKey(), SavedListing.write(trees));
        }
        return again;
    }

    private Set<String> fetchAndLink(SortedMap<String, ModelTree> changed) throws IOException {
        Map<String, StoredObject> missing = new HashMap<>();
        Set<String> kept = new HashSet<>();
        for (ModelTree tree : changed.values()) {
            for (StoredObject object : tree.files().values()) {
                kept.add(fetch.key(object));
                if (!fetch.holds(object)) {
                    missing.put(fetch.key(object), object);
                }
            }
        }
        Map<String, IOException> failures = fetch.fetch(location.text(), changed.keySet(), missing, kept);
        Set<String> again = new HashSet<>();
        for (Map.Entry<String, ModelTree> model : changed.entrySet()) {
            Optional<IOException> failure = model.getValue().files().values().stream()
                    .flatMap(object -> Optional.ofNullable(failures.get(fetch.key(object))).stream())
                    .findFirst();
            if (failure.isPresent()) {
                note(model.getKey(), reason(failure.get()));
                if (failure.get() instanceof StoreException known && known.kind() == Kind.CHANGED) {
                    again.add(model.getKey());
                }
            } else if (link(model.getKey(), model.getValue())) {
                reasons.remove(model.getKey());
            } else {
                again.add(model.getKey());
            }
        }
        return again;
    }

    /** The messages of other failures hold a path, and not what is wrong with it. */
    private static String reason(IOException failure) {
        return failure instanceof StoreException ? String.valueOf(failure.getMessage()) : failure.toString();
    }

    private void note(String model, String reason) {
        if (!reason.equals(reasons.put(model, reason))) {
            LOG.warn("{}{}", model.isEmpty() ? "" : "Model '" + model + "' is left as it is: ", reason);
        }
    }

    /** Links a model whose files are all in the cache. Returns false when one was removed meanwhile. */
    private boolean link(String model, ModelTree tree) throws IOException {
        Path snapshot = cache.newSnapshot();
        ModelTree before = trees.get(model);
        for (Map.Entry<String, StoredObject> file : tree.files().entrySet()) {
            Path target = snapshot.resolve(file.getKey());
            Files.createDirectories(target.getParent());
            StoredObject object = file.getValue();
            if (!cache.link(fetch.key(object), object.byteSize(), target)) {
                cache.discard(snapshot);
                return false;
            }
            if (before != null && !object.equals(before.files().get(file.getKey()))) {
                // The server sees changes by times; an older file that comes back is one.
                Files.setLastModifiedTime(target, FileTime.from(Instant.now()));
            }
        }
        links.point(model, snapshot);
        trees.put(model, tree);
        return true;
    }

    @Override
    public void refresh(String model) throws IOException {
        if (scope == Scope.MODEL || !isName(model)) {
            return;
        }
        lock.lock();
        try {
            String prefix = location.prefix() + model + "/";
            for (int attempt = 0; attempt < 2; attempt++) {
                ModelTree tree = ModelTree.model(prefix, store.list(prefix));
                if (tree.files().isEmpty()) {
                    links.remove(model);
                    trees.remove(model);
                    return;
                }
                SortedMap<String, ModelTree> changed = new TreeMap<>();
                if (!tree.equals(trees.get(model))) {
                    changed.put(model, tree);
                }
                if (fetchAndLink(changed).isEmpty()) {
                    break;
                }
            }
            String reason = reasons.remove(model);
            if (reason != null) {
                throw new StoreException(Kind.UNAVAILABLE, reason);
            }
            cache.remember(listingKey(), SavedListing.write(trees));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean holdsOneModel() {
        lock.lock();
        try {
            return holdsOneModel;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public SortedMap<String, String> failures() {
        lock.lock();
        try {
            return new TreeMap<>(reasons);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        store.close();
    }

    /** The models of a repository as they were fetched last, as text, for a start without the store. */
    static final class SavedListing {
        private SavedListing() {}

        static String write(Map<String, ModelTree> models) {
            StringWriter text = new StringWriter();
            try (JsonGenerator json = JsonFactory.builder().build().createGenerator(text)) {
                json.writeStartObject();
                for (Map.Entry<String, ModelTree> model : models.entrySet()) {
                    json.writeObjectFieldStart(model.getKey());
                    for (Map.Entry<String, StoredObject> file :
                            model.getValue().files().entrySet()) {
                        json.writeArrayFieldStart(file.getKey());
                        json.writeString(file.getValue().name());
                        json.writeString(file.getValue().etag());
                        json.writeNumber(file.getValue().byteSize());
                        json.writeEndArray();
                    }
                    json.writeEndObject();
                }
                json.writeEndObject();
            } catch (IOException e) {
                throw new UncheckedIOException("memory cannot be written", e);
            }
            return text.toString();
        }

        /** Empty when it cannot be read, as after another version has written it. */
        static Optional<SortedMap<String, ModelTree>> read(String text) {
            try {
                SortedMap<String, ModelTree> models = new TreeMap<>();
                for (Map.Entry<String, Object> model : JsonTree.object(text).entrySet()) {
                    SortedMap<String, StoredObject> files = new TreeMap<>();
                    for (Map.Entry<String, Object> file :
                            JsonTree.members(model.getValue()).entrySet()) {
                        ObjectPath.require(file.getKey(), file.getKey());
                        if (!(file.getValue() instanceof List<?> row) || row.size() < 3) {
                            return Optional.empty();
                        }
                        files.put(
                                file.getKey(),
                                new StoredObject(
                                        row.get(0).toString(),
                                        row.get(1).toString(),
                                        Long.parseLong(row.get(2).toString()),
                                        List.of()));
                    }
                    models.put(model.getKey(), new ModelTree(files));
                }
                return Optional.of(models);
            } catch (IOException | NumberFormatException e) {
                return Optional.empty();
            }
        }
    }
}
