// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import gatun.stores.client.ObjectPath;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoredObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The models of a repository as they were fetched last, as text, for a start without the store. */
final class SavedListing {
    private SavedListing() {}

    static String write(Map<String, ModelTree> models) {
        JsonObject root = new JsonObject();
        models.forEach((model, tree) -> {
            JsonObject files = new JsonObject();
            tree.files().forEach((path, object) -> {
                JsonArray row = new JsonArray();
                row.add(object.name());
                row.add(object.etag());
                row.add(object.byteSize());
                files.add(path, row);
            });
            root.add(model, files);
        });
        return root.toString();
    }

    /** Empty when it cannot be read, as after another version has written it. */
    static Optional<SortedMap<String, ModelTree>> read(String text) {
        try {
            SortedMap<String, ModelTree> models = new TreeMap<>();
            for (Map.Entry<String, JsonElement> model :
                    JsonParser.parseString(text).getAsJsonObject().entrySet()) {
                SortedMap<String, StoredObject> files = new TreeMap<>();
                for (Map.Entry<String, JsonElement> file :
                        model.getValue().getAsJsonObject().entrySet()) {
                    JsonArray row = file.getValue().getAsJsonArray();
                    ObjectPath.require(file.getKey(), file.getKey());
                    files.put(
                            file.getKey(),
                            new StoredObject(
                                    row.get(0).getAsString(),
                                    row.get(1).getAsString(),
                                    row.get(2).getAsLong(),
                                    List.of()));
                }
                models.put(model.getKey(), new ModelTree(files));
            }
            return Optional.of(models);
        } catch (JsonParseException
                | IllegalStateException
                | NumberFormatException
                | IndexOutOfBoundsException
                | StoreException e) {
            return Optional.empty();
        }
    }
}
