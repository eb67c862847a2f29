// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import gatun.stores.client.JsonTree;
import gatun.stores.client.ObjectPath;
import gatun.stores.client.StoredObject;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The models of a repository as they were fetched last, as text, for a start without the store. */
final class SavedListing {
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
