// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** JSON documents: documents are read as Jackson reads them, and refused when Jackson refuses them. */
public final class JsonDocumentFuzz {
    /** So deep that only one of the two readers may refuse it. */
    private static final int TOO_DEEP = JsonCursor.DEPTH_LIMIT;

    private static final JsonFactory JACKSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNumberLength(Integer.MAX_VALUE)
                    .build())
            .build();

    /** Stands for null in trees. */
    private enum Null {
        NULL
    }

    private JsonDocumentFuzz() {}

    /** Reads the input as a document. */
    public static void fuzzerTestOneInput(byte[] input) {
        AtomicReference<Optional<Object>> read = new AtomicReference<>(Optional.empty());
        FuzzInput.run(input, () -> read.set(ours(input)));
        Optional<String> text = FuzzInput.text(input);
        // Bytes of strings are not looked at, and numbers that are none are read though JSON has none.
        if (text.isEmpty() || text.get().contains("NaN") || text.get().contains("Inf")) {
            return;
        }
        Optional<Object> expected = jackson(text.get());
        if (expected.isPresent() && depth(expected.get()) > TOO_DEEP) {
            FuzzInput.requireEqual(read.get(), Optional.empty(), "a document that is nested too deep");
        } else {
            FuzzInput.requireEqual(read.get(), expected, text.get());
        }
    }

    private static int depth(Object tree) {
        int deepest = 0;
        if (tree instanceof Map<?, ?> members) {
            for (Object member : members.values()) {
                deepest = Math.max(deepest, depth(member));
            }
            return deepest + 1;
        }
        if (tree instanceof List<?> elements) {
            for (Object element : elements) {
                deepest = Math.max(deepest, depth(element));
            }
            return deepest + 1;
        }
        return 0;
    }

    /**
     * By tokens and not by Jackson's trees, which forget all but the last of members of the same name, be they
     * unreadable.
     */
    private static Optional<Object> jackson(String document) {
        try (JsonParser in = JACKSON.createParser(document)) {
            if (in.nextToken() == null) {
                return Optional.empty();
            }
            Object tree = tree(in);
            return in.nextToken() == null ? Optional.of(tree) : Optional.empty();
        } catch (JacksonException | Unreadable e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Half a surrogate pair, or a number that no double holds: Jackson takes them, ours refuses them. */
    private static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unreadable() {
            super(null, null, false, false);
        }
    }

    private static Object tree(JsonParser in) throws IOException {
        return switch (in.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> members = new HashMap<>();
                while (in.nextToken() != JsonToken.END_OBJECT) {
                    String name = paired(in.currentName());
                    in.nextToken();
                    members.put(name, tree(in));
                }
                yield members;
            }
            case START_ARRAY -> {
                List<Object> elements = new ArrayList<>();
                while (in.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(tree(in));
                }
                yield elements;
            }
            case VALUE_STRING -> paired(in.getText());
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> Null.NULL;
            case VALUE_NUMBER_INT -> {
                if (in.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                    yield finite(in.getBigIntegerValue().doubleValue());
                }
                yield in.getLongValue();
            }
            case VALUE_NUMBER_FLOAT -> finite(in.getDoubleValue());
            default -> throw new AssertionError("no value begins with " + in.currentToken());
        };
    }

    private static double finite(double value) {
        if (Double.isInfinite(value)) {
            throw new Unreadable();
        }
        return value;
    }

    private static String paired(String text) {
        if (text.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
            throw new Unreadable();
        }
        return text;
    }

    private static Optional<Object> ours(byte[] document) {
        try (Arena arena = Arena.ofConfined()) {
            JsonReader reader = new JsonReader(FuzzInput.inMemory(arena, document), 0, document.length);
            Object tree = tree(reader);
            reader.end();
            return Optional.of(tree);
        } catch (GatunException | Unreadable e) {
            return Optional.empty();
        }
    }

    private static Object tree(JsonReader reader) {
        return switch (reader.peek()) {
            case OBJECT -> {
                Map<String, Object> members = new HashMap<>();
                reader.enterObject("");
                while (reader.nextMember()) {
                    String name = reader.name();
                    members.put(name, tree(reader));
                }
                yield members;
            }
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                reader.enterArray("");
                while (reader.nextElement()) {
                    elements.add(tree(reader));
                }
                yield elements;
            }
            case STRING -> reader.readString("");
            case BOOLEAN -> reader.readBoolean("");
            case NULL -> {
                reader.skipValue();
                yield Null.NULL;
            }
            case NUMBER -> {
                JsonNumber number = reader.readNumber("");
                if (number.fitsSigned64()) {
                    yield number.integerBits();
                }
                yield finite(number.toDouble());
            }
        };
    }
}
