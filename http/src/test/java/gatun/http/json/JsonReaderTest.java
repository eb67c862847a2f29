// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {
    private static final ObjectMapper JACKSON = new ObjectMapper();

    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    @Test
    void shouldReadWhatJacksonReads() {
        Random random = new Random(20260105);
        for (int i = 0; i < 2000; i++) {
            JsonNode expected = anyNode(random, 0);
            String text = written(expected, random);

            JsonReader reader = reader(text);
            JsonNode read = read(reader);
            reader.end();

            assertThat(read).as(text).isEqualTo(expected);
        }
    }

    @Test
    void shouldSkipWhatJacksonReads() {
        Random random = new Random(20260106);
        for (int i = 0; i < 2000; i++) {
            JsonReader reader = reader(written(anyNode(random, 0), random));
            reader.skipValue();
            reader.end();
            assertThat(reader.remaining()).isZero();
        }
    }

    @Test
    void shouldPassOverWhatJacksonReads() {
        Random random = new Random(20260107);
        for (int i = 0; i < 2000; i++) {
            JsonNode node = anyNode(random, 0);
            String text = written(node, random);
            JsonReader reader = reader(text);

            assertThat(reader.passOver()).as(text).isEqualTo(node.isArray() ? node.size() : 1);
            reader.end();
            assertThat(reader.remaining()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "5 | []",
                "[] | [0]",
                "[ 1, 2 ] | [2]",
                "[[1, 2, 3], [4]] | [2, 3]",
                "[[[1]], [[2], [3]], {\"a\": [1, 2]}] | [3, 1, 1]",
                "[[\"],[\", \"\\\"\"]] | [1, 2]",
                "[[], [1]] | [2, 0]",
                "[[1.2345678901234567, 1.2345678901234567],[]] | [2, 2]",
                "[[1, 2 | [1, 2]"
            })
    void shouldMeasureTheFirstArrays(String text, String expected) {
        JsonReader reader = reader(text);
        long[] lengths = new long[4];
        long position = reader.position();

        int rank = reader.measureArrays(lengths, 1);

        assertThat(Arrays.stream(lengths).skip(1).limit(rank).boxed().toList()).hasToString(expected);
        assertThat(reader.position()).isEqualTo(position);
        assertThat(reader("[[[[1]]]]").measureArrays(lengths, 1)).isEqualTo(4);
    }

    @Test
    void shouldKnowObjectsOfOneString() {
        assertThat(reader("{\"b64\": \"a\"}").isObjectOf("b64")).isTrue();
        for (String other :
                new String[] {"{}", "{\"b64\": 1}", "{\"b64\": \"a\", \"b\": 1}", "{\"b\": \"a\"}", "[]", "\"b64\""}) {
            JsonReader reader = reader(other);
            assertThat(reader.isObjectOf("b64")).as(other).isFalse();
            reader.skipValue();
            reader.end();
        }
    }

    @Test
    void shouldReadRunsOfNumbers() {
        JsonReader reader = reader("[1.5, -2 ,NaN, true]");
        MemorySegment floats = arena.allocate(16);
        reader.enterArray("");

        assertThat(reader.nextElement()).isTrue();
        assertThat(reader.readFloats(floats, 4, 2)).isEqualTo(2);
        assertThat(floats.toArray(ValueLayout.JAVA_FLOAT)).startsWith(0, 1.5f, -2);
        assertThat(reader.nextElement()).isTrue();
        assertThat(reader.readFloats(floats, 0, 9)).isEqualTo(1);
        assertThat(reader.nextElement()).isTrue();
        assertThat(reader.readFloats(floats, 0, 9)).isZero();
        assertThat(reader.readBoolean("")).isTrue();
        assertThat(reader.nextElement()).isFalse();
        reader.end();
    }

    /** The offsets are those of the reference implementation's parser. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "~~ | The document is empty. at 0",
                "~  ~ | The document is empty. at 2",
                "{} x | The document root must not be followed by other values. at 3",
                "nul | Invalid value. at 3",
                "nulx | Invalid value. at 3",
                "tru} | Invalid value. at 3",
                "flase | Invalid value. at 1",
                "x | Invalid value. at 0",
                "{\"a\":} | Invalid value. at 5",
                "{\"a\": | Invalid value. at 5",
                "[1,] | Invalid value. at 3",
                "[, | Invalid value. at 1",
                "{ | Missing a name for object member. at 1",
                "{1:2} | Missing a name for object member. at 1",
                "{\"a\":1,} | Missing a name for object member. at 7",
                "{\"a\" 1} | Missing a colon after a name of object member. at 5",
                "{\"a\":1 \"b\":2} | Missing a comma or '}' after an object member. at 7",
                "{\"a\":1 | Missing a comma or '}' after an object member. at 6",
                "[1 2] | Missing a comma or ']' after an array element. at 3",
                "[01] | Missing a comma or ']' after an array element. at 2",
                "[1 | Missing a comma or ']' after an array element. at 2",
                "\"a\\u12x4\" | Incorrect hex digit after \\u escape in string. at 2",
                "\"a\\u12 | Incorrect hex digit after \\u escape in string. at 2",
                "\"\\ud83d\" | The surrogate pair in string is invalid. at 1",
                "\"\\ud83d\\u0041\" | The surrogate pair in string is invalid. at 1",
                "\"\\ude00\" | The surrogate pair in string is invalid. at 1",
                "\"\\x\" | Invalid escape character in string. at 1",
                "\"abc | Missing a closing quotation mark in string. at 4",
                "\"abcdefghijklmnop | Missing a closing quotation mark in string. at 17",
                "\"\\ | Missing a closing quotation mark in string. at 2",
            })
    void shouldSayWhereItIsNoJson(String text, String reason) {
        assertThatThrownBy(() -> {
                    JsonReader reader = reader(text);
                    reader.skipValue();
                    reader.end();
                })
                .hasMessage("failed to parse the request JSON buffer: " + reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u0001", "abcdefghijk\n", "\t"})
    void shouldRefuseBareControlCharacters(String content) {
        assertThatThrownBy(() -> reader("\"" + content + "\"").skipValue())
                .hasMessageContaining("Invalid escape character in string. at " + content.length());
    }

    @Test
    void shouldUndoEscapes() {
        assertThat(reader("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\\u0000 plain é€😀\"")
                        .readString(""))
                .isEqualTo("\"\\/\b\f\n\r\tAé€😀\u0000 plain é€😀");
    }

    @Test
    void shouldCompareNamesWithAndWithoutEscapes() {
        JsonReader reader = reader("{\"n\\u0061me\":1,\"name\":2,\"names\":3}");
        reader.enterObject("");

        reader.nextMember();
        assertThat(reader.nameIs("name")).isTrue();
        reader.skipValue();
        reader.nextMember();
        assertThat(reader.nameIs("name")).isTrue();
        reader.skipValue();
        reader.nextMember();
        assertThat(reader.nameIs("name")).isFalse();
        assertThat(reader.name()).isEqualTo("names");
    }

    @Test
    void shouldAnswerAKnownStringItselfInPlaceOfACopy() {
        String known = "INPUT0";

        assertThat(reader("\"INPUT0\"").readString("", List.of("x", known), text -> text))
                .isSameAs(known);
        assertThat(reader("\"INPUT1\"").readString("", List.of("x", known), text -> text))
                .isEqualTo("INPUT1");
    }

    @Test
    void shouldNestToTheLimitAndNoDeeper() {
        String deepest = "[".repeat(JsonCursor.DEPTH_LIMIT) + "]".repeat(JsonCursor.DEPTH_LIMIT);
        JsonReader reader = reader(deepest);
        reader.skipValue();
        reader.end();

        assertThatThrownBy(() -> reader("[" + deepest + "]").skipValue())
                .hasMessage("JSON nesting depth exceeds maximum allowed limit (100)");
        assertThatThrownBy(() -> reader("{\"a\":".repeat(1_000_000)).skipValue())
                .hasMessage("JSON nesting depth exceeds maximum allowed limit (100)");
    }

    @Test
    void shouldSkipWhatIsNestedDeeperWhereThatIsAllowed() {
        int levels = 30_000;
        String deep = "[1,{\"a\":".repeat(levels) + "0" + "},2]".repeat(levels);
        JsonReader reader = reader(deep).depthLimit(2 * levels);
        reader.skipValue();
        reader.end();

        assertThatThrownBy(() -> reader(deep).depthLimit(2 * levels - 1).skipValue())
                .hasMessage("JSON nesting depth exceeds maximum allowed limit (59999)");
        assertThatThrownBy(() ->
                        reader(deep.replace("0}", "0]")).depthLimit(2 * levels).skipValue())
                .hasMessageContaining("Missing a comma or '}' after an object member.");
    }

    @Test
    void shouldNameTheTypeThatItExpected() {
        assertThatThrownBy(() -> reader("1").readString("Unable to parse 'id'"))
                .hasMessage("Unable to parse 'id': attempt to access JSON non-string as string");
        assertThatThrownBy(() -> reader("1").readBoolean(""))
                .hasMessage("attempt to access JSON non-boolean as boolean");
        assertThatThrownBy(() -> reader("-1").readUnsigned(""))
                .hasMessage("attempt to access JSON non-unsigned-integer as unsigned-integer");
        assertThatThrownBy(() -> reader("\"1\"").readNumber(""))
                .hasMessage("attempt to access JSON non-number as double");
        assertThatThrownBy(() -> reader("{}").enterArray("")).hasMessage("attempt to access JSON non-array as array");
        assertThatThrownBy(() -> reader("[]").enterObject(""))
                .hasMessage("attempt to access JSON non-object as object");
    }

    private JsonReader reader(String text) {
        return NativeText.reader(arena, text);
    }

    private static JsonNode read(JsonReader reader) {
        JsonNodeFactory nodes = JsonNodeFactory.instance;
        return switch (reader.peek()) {
            case OBJECT -> {
                ObjectNode object = nodes.objectNode();
                reader.enterObject("");
                while (reader.nextMember()) {
                    String name = reader.name();
                    object.set(name, read(reader));
                }
                yield object;
            }
            case ARRAY -> {
                ArrayNode array = nodes.arrayNode();
                reader.enterArray("");
                while (reader.nextElement()) {
                    array.add(read(reader));
                }
                yield array;
            }
            case STRING -> nodes.textNode(reader.readString(""));
            case NUMBER -> {
                JsonNumber number = reader.readNumber("");
                yield number.fitsSigned64()
                        ? nodes.numberNode(number.integerBits())
                        : nodes.numberNode(number.toDouble());
            }
            case BOOLEAN -> nodes.booleanNode(reader.readBoolean(""));
            case NULL -> {
                reader.skipValue();
                yield nodes.nullNode();
            }
        };
    }

    private static JsonNode anyNode(Random random, int depth) {
        JsonNodeFactory nodes = JsonNodeFactory.instance;
        return switch (random.nextInt(depth > 4 ? 5 : 7)) {
            case 0 -> nodes.textNode(anyText(random));
            case 1 -> nodes.numberNode(random.nextLong() >> random.nextInt(64));
            case 2 -> nodes.numberNode(random.nextDouble() * Math.pow(10, random.nextInt(40) - 20) + 0.5);
            case 3 -> nodes.booleanNode(random.nextBoolean());
            case 4 -> nodes.nullNode();
            case 5 -> {
                ArrayNode array = nodes.arrayNode();
                for (int i = random.nextInt(5); i > 0; i--) {
                    array.add(anyNode(random, depth + 1));
                }
                yield array;
            }
            default -> {
                ObjectNode object = nodes.objectNode();
                for (int i = random.nextInt(5); i > 0; i--) {
                    object.set(anyText(random), anyNode(random, depth + 1));
                }
                yield object;
            }
        };
    }

    private static String anyText(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(20); i > 0; i--) {
            switch (random.nextInt(6)) {
                case 0 -> text.append((char) random.nextInt(0x80));
                case 1 -> text.append((char) (0x80 + random.nextInt(0x700)));
                case 2 -> text.append("€");
                case 3 -> text.appendCodePoint(0x10000 + random.nextInt(0xFFFFF));
                default -> text.append((char) ('a' + random.nextInt(26)));
            }
        }
        return text.toString();
    }

    private static String written(JsonNode node, Random random) {
        try {
            return random.nextBoolean()
                    ? JACKSON.writeValueAsString(node)
                    : JACKSON.writerWithDefaultPrettyPrinter().writeValueAsString(node);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
