// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads JSON as maps, lists and texts; numbers are texts, and null is left out. Stateless. */
public final class JsonTree {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(255).build())
            .build();

    private JsonTree() {}

    /** The members of an object. Throws {@link com.fasterxml.jackson.core.JsonProcessingException} for all else. */
    public static Map<String, Object> object(String json) throws IOException {
        try (JsonParser parser = FACTORY.createParser(json)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new JsonParseException(parser, "the document is no object");
            }
            Map<String, Object> members = members(parser);
            if (parser.nextToken() != null) {
                throw new JsonParseException(parser, "something follows the document");
            }
            return members;
        }
    }

    /** A reader of a stream that is too long for a tree. Owned by the caller. */
    public static JsonParser parser(InputStream json) throws IOException {
        return FACTORY.createParser(json);
    }

    /** A member that is a text; empty where it is missing, or another value. */
    public static String text(Map<String, Object> object, String name) {
        return object.get(name) instanceof String text ? text : "";
    }

    /** The members of a value that is an object; empty for any other value. */
    public static Map<String, Object> members(@Nullable Object value) {
        Map<String, Object> members = new LinkedHashMap<>();
        if (value instanceof Map<?, ?> object) {
            object.forEach((name, member) -> members.put(String.valueOf(name), member));
        }
        return members;
    }

    private static Map<String, Object> members(JsonParser parser) throws IOException {
        Map<String, Object> members = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            Object value = value(parser);
            if (value != null) {
                members.put(name, value);
            }
        }
        return members;
    }

    private static @Nullable Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> members(parser);
            case START_ARRAY -> {
                List<Object> elements = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    Object element = value(parser);
                    elements.add(element == null ? "" : element);
                }
                yield elements;
            }
            case VALUE_NULL -> null;
            default -> parser.getText();
        };
    }
}
