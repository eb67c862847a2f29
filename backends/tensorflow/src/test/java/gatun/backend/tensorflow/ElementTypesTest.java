// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.spi.EntryPoint;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every datatype to the engine and back, by a model with a signature for each. */
@Timeout(120)
class ElementTypesTest {
    private static final Map<Datatype, String> SIGNATURES = Map.of(
            Datatype.FP16, "half",
            Datatype.BF16, "bfloat16",
            Datatype.FP32, "serving_default",
            Datatype.FP64, "double",
            Datatype.BYTES, "string");

    private static ServedModels models;

    @BeforeAll
    static void open() {
        models = ServedModels.open(ServedModels.EXAMPLES);
    }

    @AfterAll
    static void close() {
        if (models != null) {
            models.close();
        }
    }

    static Stream<Datatype> datatypes() {
        return Arrays.stream(Datatype.values()).filter(datatype -> datatype != Datatype.INVALID);
    }

    @ParameterizedTest
    @MethodSource("datatypes")
    void shouldComeBackAsItWent(Datatype datatype) {
        byte[] content = content(datatype);
        String signature = SIGNATURES.getOrDefault(datatype, datatype.name().toLowerCase(Locale.ROOT));
        InferenceRequest request = models.request("types", signature);
        models.input(request, new TensorSpec("x", datatype, Shape.of(5)), content.length)
                .copyFrom(MemorySegment.ofArray(content));
        assertThat(models.bytes(request)).isEqualTo(content);
    }

    private static byte[] content(Datatype datatype) {
        if (datatype == Datatype.BYTES) {
            List<byte[]> strings = Stream.of("", "a", "ä", "22 bytes lie inside...", "x".repeat(10_000))
                    .map(ServedModels::text)
                    .toList();
            byte[] encoded = new byte[(int) BytesCodec.encodedByteSize(strings)];
            BytesCodec.encode(strings, MemorySegment.ofArray(encoded));
            return encoded;
        }
        byte[] bytes = new byte[5 * datatype.byteSize()];
        new Random(5).nextBytes(bytes);
        if (datatype == Datatype.BOOL || datatype == Datatype.UINT4 || datatype == Datatype.INT4) {
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] &= (byte) (datatype == Datatype.BOOL ? 1 : 7);
            }
        }
        return bytes;
    }

    @Test
    void shouldServeASignatureForEachDatatypeAndNoneOfHandles() {
        Map<String, EntryPoint> signatures = models.server().model("types", "").entryPoints();
        assertThat(signatures).hasSize((int) datatypes().count()).doesNotContainKey("resource");
        assertThat(signatures.values())
                .extracting(signature -> signature.inputs().getFirst().spec().datatype())
                .containsExactlyInAnyOrderElementsOf(datatypes().toList());
    }
}
