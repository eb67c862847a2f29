package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import gatun.memory.GatunException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The reader against Jackson's tree: of random documents, half of them damaged, both make the same, or both refuse them. A failure names
 * the seed; {@code -Dgatun.fuzz.seed=N} repeats it, and {@code -Dgatun.fuzz.documents=N} tries more.
 */
@Timeout(120)
class JsonFuzzTest {
    private static final long SEED = Long.getLong("gatun.fuzz.seed", 20_261_121);
    private static final int DOCUMENTS = Integer.getInteger("gatun.fuzz.documents", 30_000);
    private static final int MAX_DEPTH = 6;

    /** What is put into documents to damage them: whatever means something in JSON, and some that does not. */
    private static final String[] SPLINTERS = {
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u",
        "\\n",
        "\\ud83d",
        "\\ude00",
        "-",
        "+",
        ".",
        "e",
        "E+",
        "0",
        "00",
        "1",
        "9999999999999999999",
        "1e309",
        "1e-400",
        "true",
        "false",
        "null",
        "nul",
        "tru",
        " ",
        "\t",
        "\n",
        "\r",
        "\f",
        "\u0001",
        "/",
        "#",
        "'",
        "x",
        "\u007f"
    };

    private static final ObjectMapper JACKSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Stands for null in trees. */
    private enum Null {
        NULL
    }

    @Test
    void shouldReadWhatAnotherReaderReadsAndRefuseTheRest() {
        Random random = new Random(SEED);
        int refused = 0;
        for (int i = 0; i < DOCUMENTS; i++) {
            StringBuilder text = new StringBuilder();
            writeValue(random, text, 0);
            if (random.nextBoolean()) {
                damage(random, text);
            }
            String document = text.toString();
            Optional<Object> expected = jackson(document);
            assertThat(ours(document))
                    .as("document %d of the seed %d: %s", i, SEED, document)
                    .isEqualTo(expected);
            refused += expected.isEmpty() ? 1 : 0;
        }
        assertThat(refused).as("documents that were refused").isBetween(DOCUMENTS / 10, DOCUMENTS / 2);
    }

    private static void writeValue(Random random, StringBuilder text, int depth) {
        blanks(random, text);
        switch (random.nextInt(depth < MAX_DEPTH ? 9 : 6)) {
            case 0 -> text.append(random.nextBoolean());
            case 1 -> text.append("null");
            case 2, 3 -> writeString(random, text);
            case 4, 5 -> writeNumber(random, text);
            case 6 -> {
                text.append('{');
                for (int i = random.nextInt(4); i > 0; i--) {
                    blanks(random, text);
                    writeString(random, text);
                    blanks(random, text);
                    text.append(':');
                    writeValue(random, text, depth + 1);
                    text.append(i > 1 ? "," : "");
                }
                text.append('}');
            }
            default -> {
                text.append('[');
                for (int i = random.nextInt(4); i > 0; i--) {
                    writeValue(random, text, depth + 1);
                    text.append(i > 1 ? "," : "");
                }
                text.append(']');
            }
        }
        blanks(random, text);
    }

    private static void blanks(Random random, StringBuilder text) {
        while (random.nextInt(6) == 0) {
            text.append(" \t\n\r".charAt(random.nextInt(4)));
        }
    }

    private static void writeString(Random random, StringBuilder text) {
        text.append('"');
        for (int i = random.nextInt(12); i > 0; i--) {
            switch (random.nextInt(8)) {
                case 0 -> text.append("\\").append("\"\\/bfnrt".charAt(random.nextInt(8)));
                case 1 -> text.append("\\u").append(String.format("%04x", random.nextInt(0xD800)));
                case 2 -> text.append("\\ud83d\\ude0").append(Integer.toHexString(random.nextInt(16)));
                case 3 ->
                    text.appendCodePoint("é\u20ac\uD83D\uDE00".codePoints().toArray()[random.nextInt(3)]);
                default -> text.append("abc xyz019/".charAt(random.nextInt(11)));
            }
        }
        text.append('"');
    }

    private static void writeNumber(Random random, StringBuilder text) {
        switch (random.nextInt(6)) {
            case 0 -> text.append(random.nextInt());
            case 1 -> text.append(random.nextLong());
            case 2 -> text.append(Double.longBitsToDouble(random.nextLong() & ~(1L << 62)));
            case 3 -> text.append(random.nextInt(100)).append('.').append(random.nextInt(1000));
            case 4 -> text.append(random.nextInt(10)).append("E+").append(random.nextInt(30));
            default -> {
                text.append(1 + random.nextInt(9));
                for (int i = random.nextInt(40); i > 0; i--) {
                    text.append(random.nextInt(10));
                }
            }
        }
    }

    private static void damage(Random random, StringBuilder text) {
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            int at = random.nextInt(text.length() + 1);
            int end = Math.min(text.length(), at + random.nextInt(3));
            switch (random.nextInt(3)) {
                case 0 -> text.delete(at, end);
                case 1 -> text.insert(at, SPLINTERS[random.nextInt(SPLINTERS.length)]);
                default -> text.replace(at, end, SPLINTERS[random.nextInt(SPLINTERS.length)]);
            }
        }
        // Half a surrogate pair has no UTF-8, in which documents come.
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                text.setCharAt(i, '?');
            }
        }
    }

    private static Optional<Object> jackson(String document) {
        try {
            JsonNode tree = JACKSON.readTree(document);
            return tree.isMissingNode() ? Optional.empty() : Optional.of(tree(tree));
        } catch (JacksonException | UnpairedSurrogateException | ArithmeticException e) {
            return Optional.empty();
        }
    }

    /** Jackson takes half a surrogate pair for a text, which ours refuses. */
    private static final class UnpairedSurrogateException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static Object tree(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                Map<String, Object> members = new HashMap<>();
                node.properties().forEach(member -> members.put(paired(member.getKey()), tree(member.getValue())));
                yield members;
            }
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                node.forEach(element -> elements.add(tree(element)));
                yield elements;
            }
            case STRING -> paired(node.textValue());
            case BOOLEAN -> node.booleanValue();
            case NULL -> Null.NULL;
            case NUMBER -> {
                if (node.isIntegralNumber() && node.canConvertToLong()) {
                    yield node.longValue();
                }
                double value = node.doubleValue();
                if (Double.isInfinite(value)) {
                    // Ours refuses what no double can hold.
                    throw new ArithmeticException("too big");
                }
                yield value;
            }
            case BINARY, MISSING, POJO -> throw new AssertionError("no text makes a node of " + node.getNodeType());
        };
    }

    private static String paired(String text) {
        if (text.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
            throw new UnpairedSurrogateException();
        }
        return text;
    }

    private static Optional<Object> ours(String document) {
        try (Arena arena = Arena.ofConfined()) {
            JsonReader reader = NativeText.reader(arena, document);
            Object tree = tree(reader);
            reader.end();
            return Optional.of(tree);
        } catch (GatunException e) {
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
                double value = number.toDouble();
                if (Double.isInfinite(value)) {
                    throw GatunException.invalidArgument("too big");
                }
                yield value;
            }
        };
    }
}
