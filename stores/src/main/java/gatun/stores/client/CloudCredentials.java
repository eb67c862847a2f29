// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The credentials in the file that {@code TRITON_CLOUD_CREDENTIAL_PATH} names, in Triton's form: for each kind of store,
 * the beginnings of URLs with what holds for them; the longest beginning of a URL counts, an empty one for all others.
 *
 * @param byKind for {@code s3}, {@code gs} and {@code as}, values by the beginning of URLs
 */
public record CloudCredentials(Map<String, Map<String, JsonElement>> byKind) {
    /** The environment variable that names the file. */
    public static final String FILE_VARIABLE = "TRITON_CLOUD_CREDENTIAL_PATH";

    /** No credentials but those of the environment. */
    public static final CloudCredentials NONE = new CloudCredentials(Map.of());

    private static final long BYTE_LIMIT = 1 << 20;

    /**
     * The credentials that the environment names; none where it names no file.
     *
     * @throws IOException when the file cannot be read, or is not of that form; its content is not repeated
     */
    public static CloudCredentials of(Map<String, String> environment) throws IOException {
        String file = environment.getOrDefault(FILE_VARIABLE, "");
        return file.isEmpty() ? NONE : read(Path.of(file));
    }

    private static CloudCredentials read(Path file) throws IOException {
        if (Files.size(file) > BYTE_LIMIT) {
            throw new IOException(FILE_VARIABLE + "=" + file + " is no file of credentials: it has more than a MiB");
        }
        Map<String, Map<String, JsonElement>> byKind = new HashMap<>();
        try {
            JsonObject root = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
            for (Map.Entry<String, JsonElement> kind : root.entrySet()) {
                byKind.put(
                        kind.getKey(),
                        Map.copyOf(kind.getValue().getAsJsonObject().asMap()));
            }
        } catch (JsonParseException | IllegalStateException e) {
            throw new IOException(
                    FILE_VARIABLE + "=" + file + " is not JSON of the form {\"s3\": {\"\": {\"key_id\": ...}}}");
        }
        return new CloudCredentials(Map.copyOf(byKind));
    }

    /** The texts that hold for a location; a single text, as for Google, is called {@code path}. */
    public Optional<Map<String, String>> of(StoreLocation location) {
        String url = location.text() + "/";
        return byKind.getOrDefault(location.kind().scheme(), Map.of()).entrySet().stream()
                .filter(entry -> url.startsWith(entry.getKey()))
                .max((a, b) -> Integer.compare(a.getKey().length(), b.getKey().length()))
                .map(entry -> texts(entry.getValue()));
    }

    private static Map<String, String> texts(JsonElement value) {
        if (value instanceof JsonPrimitive text) {
            return Map.of("path", text.getAsString());
        }
        Map<String, String> texts = new HashMap<>();
        if (value instanceof JsonObject object) {
            object.entrySet().forEach(entry -> {
                if (entry.getValue() instanceof JsonPrimitive text) {
                    texts.put(entry.getKey(), text.getAsString());
                }
            });
        }
        return texts;
    }

    /** Shows nothing of what is in it. */
    @Override
    public String toString() {
        return "CloudCredentials[" + byKind.keySet() + "]";
    }
}
