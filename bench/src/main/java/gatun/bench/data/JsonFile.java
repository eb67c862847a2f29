// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON read as a whole, where time does not matter. {@code name} is for error texts. */
public record JsonFile(String name, JsonValue root) {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNestingDepth(100)
                    .build())
            .build();

    /** Reads {@code path}. Throws {@link DataException} when there is no such file, or when it is not JSON. */
    public static JsonFile read(Path path) {
        try (InputStream bytes = Files.newInputStream(path)) {
            return parse(path.toString(), bytes);
        } catch (NoSuchFileException e) {
            throw new DataException(path + ": there is no such file");
        } catch (IOException e) {
            throw new DataException(path + ": cannot be read: " + IoFailure.reason(e));
        }
    }

    /** Reads the JSON in {@code bytes}. Throws {@link DataException} when it is not JSON. */
    public static JsonFile parse(String name, InputStream bytes) throws IOException {
        try (JsonParser parser = FACTORY.createParser(bytes)) {
            if (parser.nextToken() == null) {
                throw new DataException(name + " is empty: expected JSON");
            }
            JsonFile file = new JsonFile(name, value(parser));
            if (parser.nextToken() != null) {
                throw new DataException(name + ", line " + line(parser) + ": expected the end");
            }
            return file;
        } catch (JsonProcessingException e) {
            throw new DataException(name + ", line " + e.getLocation().getLineNr() + ": " + e.getOriginalMessage());
        }
    }

    DataException wrong(JsonValue value, String text) {
        return new DataException(name + ", line " + value.line() + ": " + text);
    }

    private static JsonValue value(JsonParser parser) throws IOException {
        int line = line(parser);
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser, line);
            case START_ARRAY -> array(parser, line);
            case VALUE_STRING -> new JsonValue.Text(parser.getText(), line);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new JsonValue.Num(parser.getText(), line);
            case VALUE_TRUE -> new JsonValue.Bool(true, line);
            case VALUE_FALSE -> new JsonValue.Bool(false, line);
            case VALUE_NULL -> new JsonValue.Null(line);
            case END_OBJECT, END_ARRAY, FIELD_NAME, NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT ->
                throw new IllegalStateException("a value begins with " + parser.currentToken());
        };
    }

    private static JsonValue object(JsonParser parser, int line) throws IOException {
        Map<String, JsonValue> members = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            members.put(name, value(parser));
        }
        return new JsonValue.Obj(members, line);
    }

    private static JsonValue array(JsonParser parser, int line) throws IOException {
        List<JsonValue> elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            elements.add(value(parser));
        }
        return new JsonValue.Arr(elements, line);
    }

    private static int line(JsonParser parser) {
        return parser.currentTokenLocation().getLineNr();
    }

    /** A value of a JSON file, and the line on which it begins, for error texts. */
    public sealed interface JsonValue {
        /** The line on which it begins, from 1. */
        int line();

        /** An object; of members with the same name the last counts. */
        record Obj(Map<String, JsonValue> members, int line) implements JsonValue {}

        /** An array. */
        record Arr(List<JsonValue> elements, int line) implements JsonValue {}

        /** A string. */
        record Text(String value, int line) implements JsonValue {}

        /** A number, as it is written; NaN and Infinity are numbers, too. */
        record Num(String text, int line) implements JsonValue {}

        /** True or false. */
        record Bool(boolean value, int line) implements JsonValue {}

        /** Null. */
        record Null(int line) implements JsonValue {}
    }
}
