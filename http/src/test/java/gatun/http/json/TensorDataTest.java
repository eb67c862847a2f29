// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TensorDataTest {
    private final Arena arena = Arena.ofConfined();
    private final TensorDataReader data = new TensorDataReader();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = Datatype.class,
            names = {"FP16", "BF16", "INVALID", "BYTES", "COMPLEX.*", "QU?INT.*", "U?INT4", "FP8_.*"},
            mode = EnumSource.Mode.MATCH_NONE)
    void shouldReadBackWhatItWrote(Datatype datatype) {
        Random random = new Random(20260107);
        for (int round = 0; round < 200; round++) {
            int count = 1 + random.nextInt(40);
            MemorySegment elements = arena.allocate((long) count * datatype.byteSize());
            for (long i = 0; i < elements.byteSize(); i++) {
                int bits = datatype == Datatype.BOOL ? random.nextInt(2) : random.nextInt(256);
                elements.set(ValueLayout.JAVA_BYTE, i, (byte) bits);
            }
            makeNansAlike(datatype, elements);

            String text = written(datatype, elements);
            MemorySegment read = read(datatype, count, nested(text, random));

            assertThat(read.mismatch(elements)).as(text).isEqualTo(-1);
        }
    }

    @Test
    void shouldReadFloatsAsTheJdkReadsThemFromJacksonsTree() throws IOException {
        Random random = new Random(20260108);
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < 20_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (Float.isFinite(value)) {
                text.append(random.nextBoolean() ? Double.toString(value) : Float.toString(value))
                        .append(',');
            }
        }
        text.setCharAt(text.length() - 1, ']');
        JsonNode tree = new ObjectMapper().readTree(text.toString());

        MemorySegment read = read(Datatype.FP32, tree.size(), text.toString());

        for (int i = 0; i < tree.size(); i++) {
            assertThat(read.getAtIndex(ValueLayout.JAVA_FLOAT, i))
                    .isEqualTo((float) tree.get(i).doubleValue());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "INT8, 128, -128 to 127",
        "INT8, -129, -128 to 127",
        "INT16, 32768, -32768 to 32767",
        "INT32, -2147483649, -2147483648 to 2147483647",
        "UINT8, 256, 0 to 255",
        "UINT16, 65536, 0 to 65535",
        "UINT32, 4294967296, 0 to 4294967295",
        "UINT32, 18446744073709551615, 0 to 4294967295",
        "FP32, 1e39, -3.4028235e38 to 3.4028235e38",
        "FP32, -3.4028236e38, -3.4028235e38 to 3.4028235e38",
    })
    void shouldRefuseNumbersThatTheirDatatypeCannotHold(Datatype datatype, String number, String range) {
        assertThatThrownBy(() -> read(datatype, 3, "[1,0," + number + "]"))
                .hasMessage("Unable to parse 'data': element 2 of input 'IN' is " + number + ", which " + datatype
                        + " cannot hold: expected " + range);
    }

    @Test
    void shouldShowOnlyTheBeginOfALongNumber() {
        assertThatThrownBy(() -> read(Datatype.INT8, 1, "[1" + "0".repeat(18) + "]"))
                .hasMessageContaining("is 1000000000000000000, which");
        assertThatThrownBy(() -> read(Datatype.FP32, 1, "[4" + "0".repeat(100) + "]"))
                .hasMessageContaining("is 4" + "0".repeat(39) + "..., which FP32");
    }

    @Test
    void shouldTakeTheLeastAndTheGreatestNumbersOfADatatype() {
        assertThat(read(Datatype.INT8, 2, "[-128,127]").toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(-128, 127);
        assertThat(read(Datatype.UINT8, 2, "[0,255]").toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(0, -1);
        assertThat(read(Datatype.FP32, 3, "[3.4028235e38,-Infinity,NaN]").toArray(ValueLayout.JAVA_FLOAT))
                .containsExactly(Float.MAX_VALUE, Float.NEGATIVE_INFINITY, Float.NaN);
    }

    @Test
    void shouldReadAndWriteStrings() {
        List<String> texts = List.of("", "a", "\"\\\u0001\n", "é€😀", "x".repeat(1000));
        MemorySegment raw = arena.allocate(BytesCodec.encodedTextByteSize(texts));
        BytesCodec.encodeText(texts, raw);

        String json = written(Datatype.BYTES, raw);
        JsonReader reader = NativeText.reader(arena, json);
        reader.readTensor(data.measuringStrings());
        assertThat(data.count()).isEqualTo(texts.size());
        assertThat(data.encodedByteSize()).isEqualTo(raw.byteSize());
        MemorySegment read = arena.allocate(data.encodedByteSize());
        NativeText.reader(arena, json).readTensor(data.strings(read));

        assertThat(read.mismatch(raw)).isEqualTo(-1);
        assertThat(json).startsWith("[\"\",\"a\",\"\\\"\\\\\\u0001\\n\",\"é€😀\",\"xxx");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UINT16 | 65535 | 65535",
                "INT32 | -2147483648 | -2147483648",
                "UINT32 | 4294967295 | 4294967295",
                "INT64 | -9223372036854775808 | -9223372036854775808",
                "UINT64 | 18446744073709551615 | 18446744073709551615",
            })
    void shouldKeepAllBitsOfIntegers(Datatype datatype, String given, String kept) {
        assertThat(written(datatype, read(datatype, 1, "[" + given + "]"))).isEqualTo("[" + kept + "]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "BOOL | [1] | Unable to parse 'data': attempt to access JSON non-boolean as boolean",
                "INT32 | [true] | Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer",
                "INT32 | [1.0] | Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer",
                "INT64 | [9223372036854775808] | Unable to parse 'data': attempt to access JSON non-signed-integer"
                        + " as signed-integer",
                "UINT8 | [-1] | Unable to parse 'data': attempt to access JSON non-unsigned-integer as"
                        + " unsigned-integer",
                "FP32 | [\"1\"] | Unable to parse 'data': attempt to access JSON non-number as double",
                "FP64 | [null] | Unable to parse 'data': attempt to access JSON non-number as double",
                "FP64 | [{}] | Unable to parse 'data': attempt to access JSON non-number as double",
                "FP32 | 1 | Unable to parse 'data': attempt to access JSON non-array as array",
                "FP32 | [1,2] | Unable to parse 'data': Shape does not match true shape of 'data' field: the shape of"
                        + " input 'IN' asks for 1 elements, got 2",
                "FP32 | [1,2,[3,4]] | Unable to parse 'data': Shape does not match true shape of 'data' field: the"
                        + " shape of input 'IN' asks for 1 elements, got 4",
                "BOOL | [true,false] | Unable to parse 'data': Shape does not match true shape of 'data' field: the"
                        + " shape of input 'IN' asks for 1 elements, got 2",
                "FP32 | [] | Failed to parse 'data' field: shape does not match true shape: the shape of input 'IN' asks for"
                        + " 1 elements, got 0",
                "FP32 | [[],[]] | Failed to parse 'data' field: shape does not match true shape: the shape of input 'IN' asks for"
                        + " 1 elements, got 0",
                "FP32 | [1 2] | failed to parse the request JSON buffer: Missing a comma or ']' after an array"
                        + " element. at 3",
                "FP32 | [1,] | failed to parse the request JSON buffer: Invalid value. at 3",
                "FP32 | [x] | failed to parse the request JSON buffer: Invalid value. at 1",
                "FP32 | [ | failed to parse the request JSON buffer: Invalid value. at 1",
                "FP32 | [1 | failed to parse the request JSON buffer: Missing a comma or ']' after an array element."
                        + " at 2",
                "FP32 | [1e999] | failed to parse the request JSON buffer: Number too big to be stored in double. at 1",
            })
    void shouldSayWhatIsWrong(Datatype datatype, String json, String reason) {
        assertThatThrownBy(() -> read(datatype, 1, json)).hasMessage(reason);
    }

    @Test
    void shouldNestToTheLimitAndNoDeeper() {
        String deepest = "[".repeat(100) + "7" + "]".repeat(100);

        assertThat(read(Datatype.INT32, 1, deepest).get(ValueLayout.JAVA_INT, 0))
                .isEqualTo(7);
        assertThatThrownBy(() -> read(Datatype.INT32, 1, "[" + deepest + "]"))
                .hasMessage("JSON nesting depth exceeds maximum allowed limit (100)");
    }

    private MemorySegment read(Datatype datatype, int count, String json) {
        MemorySegment elements = arena.allocate((long) count * datatype.byteSize());
        JsonReader reader = NativeText.reader(arena, json);
        reader.readTensor(data.into("IN", datatype, count, elements));
        data.requireCount(count);
        reader.end();
        return elements;
    }

    private static String written(Datatype datatype, MemorySegment elements) {
        JsonWriter json = new JsonWriter();
        TensorDataWriter.write(json, datatype, elements);
        return new String(json.array(), 0, json.size(), StandardCharsets.UTF_8);
    }

    /** A NaN has many bits, and one text. */
    private static void makeNansAlike(Datatype datatype, MemorySegment elements) {
        if (datatype == Datatype.FP32) {
            for (long at = 0; at < elements.byteSize(); at += 4) {
                if (Float.isNaN(elements.get(ValueLayout.JAVA_FLOAT, at))) {
                    elements.set(ValueLayout.JAVA_FLOAT, at, Float.NaN);
                }
            }
        } else if (datatype == Datatype.FP64) {
            for (long at = 0; at < elements.byteSize(); at += 8) {
                if (Double.isNaN(elements.get(ValueLayout.JAVA_DOUBLE, at))) {
                    elements.set(ValueLayout.JAVA_DOUBLE, at, Double.NaN);
                }
            }
        }
    }

    /** The same leaves, with blanks and brackets strewn in. */
    private static String nested(String flat, Random random) {
        StringBuilder text = new StringBuilder();
        for (String leaf : flat.substring(1, flat.length() - 1).split(",", -1)) {
            text.append(text.isEmpty() ? "[ " : random.nextBoolean() ? "," : " ,\n\t");
            int depth = random.nextInt(3);
            text.append("[".repeat(depth)).append(leaf).append(random.nextInt(9) == 0 && depth > 0 ? ",[ ]" : "");
            text.append("]".repeat(depth));
        }
        return text.append(']').toString();
    }
}
