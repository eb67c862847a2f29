// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Reads YAML as resources, and refuses fields that these do not have. */
final class StrictYaml {
    /** The model of Kubernetes keeps unknown fields aside; without that they are errors. */
    private static final ObjectMapper MAPPER = new ObjectMapper()
            .setAnnotationIntrospector(new JacksonAnnotationIntrospector() {
                private static final long serialVersionUID = 1;

                @Override
                public Boolean hasAnySetter(Annotated method) {
                    return false;
                }
            });

    private StrictYaml() {}

    /** The documents in {@code text} that are not empty. Keys that stand twice are refused. */
    static List<JsonNode> documents(String text) {
        List<JsonNode> documents = new ArrayList<>();
        for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(text)) {
            if (document != null) {
                documents.add(MAPPER.valueToTree(document));
            }
        }
        return documents;
    }

    /** The only document of a file. */
    static JsonNode file(Path path) {
        try {
            return documents(Files.readString(path)).getFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * {@code document} as a resource.
     *
     * @throws IllegalArgumentException with the path of a field that {@code type} does not have, or of a wrong type
     */
    static <T> T read(JsonNode document, Class<T> type) {
        return MAPPER.convertValue(document, type);
    }
}
