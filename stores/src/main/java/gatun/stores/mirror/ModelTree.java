// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import gatun.stores.client.ObjectPath;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoredObject;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The files of a model in a store, by their paths below the model's folder. */
record ModelTree(SortedMap<String, StoredObject> files) {
    private static final Pattern VERSION_FILE = Pattern.compile("[0-9]+/[^/]+");

    record Listing(SortedMap<String, ModelTree> trees, SortedMap<String, String> refused) {}

    /** Sorts objects by models; {@code modelNames} accepts names of folders. Objects beside them are skipped. */
    static Listing models(String prefix, List<StoredObject> objects, Predicate<String> modelNames) {
        SortedMap<String, SortedMap<String, StoredObject>> files = new TreeMap<>();
        SortedMap<String, String> refused = new TreeMap<>();
        for (StoredObject object : objects) {
            String path =
                    object.name().startsWith(prefix) ? object.name().substring(prefix.length()) : "../" + object.name();
            int slash = path.indexOf('/');
            if (slash < 0) {
                continue;
            }
            String model = path.substring(0, slash);
            if (!model.equals("..") && !modelNames.test(model)) {
                continue;
            }
            try {
                ObjectPath.requirePart(model, object.name());
            } catch (StoreException e) {
                refused.put(ObjectPath.printable(model), e.getMessage());
                continue;
            }
            SortedMap<String, StoredObject> own = files.computeIfAbsent(model, name -> new TreeMap<>());
            String rest = path.substring(slash + 1);
            // An object that ends with a slash stands for a folder.
            if (!rest.isEmpty() && !rest.endsWith("/")) {
                own.put(rest, object);
            }
        }
        SortedMap<String, ModelTree> trees = new TreeMap<>();
        files.forEach((model, own) -> {
            try {
                trees.put(model, of(own));
            } catch (StoreException e) {
                refused.put(model, e.getMessage());
            }
        });
        return new Listing(trees, refused);
    }

    /** The tree of a single model. Throws {@link StoreException} MALFORMED when a name cannot be a file's. */
    static ModelTree model(String prefix, List<StoredObject> objects) throws StoreException {
        SortedMap<String, StoredObject> files = new TreeMap<>();
        for (StoredObject object : objects) {
            String path =
                    object.name().startsWith(prefix) ? object.name().substring(prefix.length()) : "../" + object.name();
            if (!path.isEmpty() && !path.endsWith("/")) {
                files.put(path, object);
            }
        }
        return of(files);
    }

    /** Whether the objects are those of one model's folder: a configuration, or the file of a version. */
    static boolean isOneModel(String prefix, List<StoredObject> objects) {
        return objects.stream()
                .filter(object -> object.name().startsWith(prefix))
                .map(object -> object.name().substring(prefix.length()))
                .anyMatch(path -> path.equals("config.pbtxt")
                        || VERSION_FILE.matcher(path).matches());
    }

    /** Looks up each folder of a name, and keeps none: deep names have many times their own length in folders. */
    private static ModelTree of(SortedMap<String, StoredObject> files) throws StoreException {
        for (Map.Entry<String, StoredObject> file : files.entrySet()) {
            String path = file.getKey();
            ObjectPath.require(path, file.getValue().name());
            for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
                String folder = path.substring(0, slash);
                if (files.containsKey(folder)) {
                    throw ObjectPath.refusal(folder, "is a file and a folder at once");
                }
            }
        }
        return new ModelTree(files);
    }
}
