// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import com.fasterxml.jackson.core.JsonProcessingException;
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
public record CloudCredentials(Map<String, Map<String, Object>> byKind) {
    /** The environment variable that names the file. */
    public static final String FILE_VARIABLE = "TRITON_CLOUD_CREDENTIAL_PATH";

    /** No credentials but those of the environment. */
    public static final CloudCredentials NONE = new CloudCredentials(Map.of());

    private static final long BYTE_LIMIT = 1 << 20;

    /** Those of the file that the environment names, or none. Errors do not repeat the content. */
    public static CloudCredentials of(Map<String, String> environment) throws IOException {
        String file = environment.getOrDefault(FILE_VARIABLE, "");
        return file.isEmpty() ? NONE : read(Path.of(file));
    }

    private static CloudCredentials read(Path file) throws IOException {
        if (Files.size(file) > BYTE_LIMIT) {
            throw new IOException(FILE_VARIABLE + "=" + file + " is no file of credentials: it has more than a MiB");
        }
        Map<String, Map<String, Object>> byKind = new HashMap<>();
        try {
            for (Map.Entry<String, Object> kind :
                    JsonTree.object(Files.readString(file)).entrySet()) {
                if (!(kind.getValue() instanceof Map)) {
                    throw malformed(file);
                }
                byKind.put(kind.getKey(), JsonTree.members(kind.getValue()));
            }
        } catch (JsonProcessingException e) {
            throw malformed(file);
        }
        return new CloudCredentials(Map.copyOf(byKind));
    }

    private static IOException malformed(Path file) {
        return new IOException(
                FILE_VARIABLE + "=" + file + " is not JSON of the form {\"s3\": {\"\": {\"key_id\": ...}}}");
    }

    /** The texts that hold for a location; a single text, as for Google, is called {@code path}. */
    public Optional<Map<String, String>> of(StoreLocation location) {
        String url = location.text() + "/";
        return byKind.getOrDefault(location.kind().scheme(), Map.of()).entrySet().stream()
                .filter(entry -> url.startsWith(entry.getKey()))
                .max((a, b) -> Integer.compare(a.getKey().length(), b.getKey().length()))
                .map(entry -> texts(entry.getValue()));
    }

    private static Map<String, String> texts(Object value) {
        if (value instanceof String text) {
            return Map.of("path", text);
        }
        Map<String, String> texts = new HashMap<>();
        JsonTree.members(value).forEach((name, member) -> {
            if (member instanceof String text) {
                texts.put(name, text);
            }
        });
        return texts;
    }

    /** Shows nothing of what is in it. */
    @Override
    public String toString() {
        return "CloudCredentials[" + byKind.keySet() + "]";
    }
}
