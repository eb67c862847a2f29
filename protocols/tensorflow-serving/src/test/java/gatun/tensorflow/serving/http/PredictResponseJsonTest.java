// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.http.json.JsonWriter;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse.OutputTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PredictResponseJsonTest {
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        arena.close();
    }

    private OutputTensor output(String name, Datatype datatype, Shape shape, MemorySegment bytes) {
        return new OutputTensor(new Tensor(new TensorSpec(name, datatype, shape), bytes), false);
    }

    private OutputTensor floats(String name, Shape shape, float... values) {
        MemorySegment bytes = arena.allocate(ElementLayouts.FP32, Math.max(1, values.length));
        MemorySegment.copy(values, 0, bytes, ElementLayouts.FP32, 0, values.length);
        return output(name, Datatype.FP32, shape, bytes.asSlice(0, (long) values.length * Float.BYTES));
    }

    private OutputTensor strings(String name, Shape shape, String... values) {
        MemorySegment bytes = arena.allocate(BytesCodec.encodedTextByteSize(List.of(values)));
        BytesCodec.encodeText(List.of(values), bytes);
        return output(name, Datatype.BYTES, shape, bytes);
    }

    private static String written(boolean rows, OutputTensor... outputs) {
        JsonWriter json = new JsonWriter();
        PredictResponseJson.write(new IndentedJson(json, 4), List.of(outputs), rows);
        return new String(json.array(), 0, json.size(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldWriteBytesAsBase64InOutputsThatAreCalledSo() {
        assertThat(written(true, strings("image_bytes", Shape.of(2), "\0", "ab")))
                .isEqualTo("""
                {
                    "predictions": [{
                            "b64": "AA=="
                        }, {
                            "b64": "YWI="
                        }
                    ]
                }""");
        assertThat(written(true, strings("image", Shape.of(1), "ab"))).contains("[\"ab\"");
    }

    @Test
    void shouldWriteNumbersAsShortAsTheyAre() {
        assertThat(written(
                        true,
                        floats(
                                "y",
                                Shape.of(8),
                                0.1f,
                                16777216f,
                                9_000_000f,
                                3e-5f,
                                Float.NaN,
                                Float.POSITIVE_INFINITY,
                                Float.NEGATIVE_INFINITY,
                                1 / 3f)))
                .contains("[0.1, 16777216.0, 9e+06, 3e-05, NaN, Infinity, -Infinity, 0.333333343\n");
        assertThat(written(
                        true,
                        floats(
                                "y",
                                Shape.of(2, 4),
                                7_000_000,
                                999_999,
                                0.25f,
                                .0004f,
                                444_445.5f,
                                -0f,
                                Float.MIN_VALUE,
                                Float.MAX_VALUE)))
                .contains("[[7e+06, 999999.0, 0.25, 0.0004], [444445.5, -0.0, 1.4013e-45, 3.40282347e+38]\n");
    }

    @Test
    void shouldWriteScalarsAndEmptyArrays() {
        assertThat(written(false, floats("y", Shape.of(), 1))).isEqualTo("{\n    \"outputs\": 1.0\n}");
        assertThat(written(true, floats("y", Shape.of(2, 0)))).isEqualTo("{\n    \"predictions\": [[], []\n    ]\n}");
        assertThat(written(true, floats("y", Shape.of(0, 2)))).isEqualTo("{\n    \"predictions\": []\n}");
        assertThat(written(true, floats("y", Shape.of(0, 3, 4)), strings("s", Shape.of(0, 1))))
                .isEqualTo("{\n    \"predictions\": []\n}");
    }

    @Test
    void shouldRefuseRowsThatAreNone() {
        assertThatThrownBy(() -> written(true, floats("y", Shape.of(), 1)))
                .isInstanceOf(GatunException.class)
                .hasMessage("Tensor name: y has no shape information ");
        assertThatThrownBy(() -> written(true, floats("a", Shape.of(1), 1), floats("b", Shape.of(2), 1, 2)))
                .hasMessage("Tensor name: b has inconsistent batch size: 2 expecting: 1");
        assertThatThrownBy(() -> written(true, floats("a", Shape.of(0, 2)), strings("b", Shape.of(1), "x")))
                .hasMessage("Tensor name: b has inconsistent batch size: 1 expecting: 0");
        assertThatThrownBy(() -> written(true)).hasMessage("Cannot convert empty tensor map to JSON");
        assertThatThrownBy(() -> written(false)).hasMessage("Cannot convert empty tensor map to JSON");
    }

    @ParameterizedTest
    @CsvSource({
        "FP16, half",
        "BF16, bfloat16",
        "UINT16, uint16",
        "COMPLEX64, complex64",
        "COMPLEX128, complex128",
        "QINT8, qint8",
        "QUINT8, quint8",
        "QINT16, qint16",
        "QUINT16, quint16",
        "QINT32, qint32",
        "INT4, int4",
        "UINT4, uint4",
        "FP8_E5M2, float8_e5m2",
        "FP8_E4M3FN, float8_e4m3fn"
    })
    void shouldRefuseDatatypesWithoutAFormInJson(Datatype datatype, String name) {
        OutputTensor output = output("y", datatype, Shape.of(1), arena.allocate(datatype.byteSize()));

        for (boolean rows : new boolean[] {true, false}) {
            assertThatThrownBy(() -> written(rows, output))
                    .hasMessage("Failed to write JSON value for tensor type: " + name);
        }
    }
}
