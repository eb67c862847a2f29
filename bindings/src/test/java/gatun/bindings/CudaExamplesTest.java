// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The small network of the examples has its weights three times: for C, for a GPU, for ONNX Runtime. */
class CudaExamplesTest {
    private static final Path EXAMPLES = Path.of("..", "examples");

    @ParameterizedTest
    @ValueSource(strings = {"mlp_weights1", "mlp_bias1", "mlp_weights2", "mlp_bias2", "mlp_weights3", "mlp_bias3"})
    void shouldHaveTheSameWeightsInEachOfItsFiles(String array) throws Exception {
        byte[] weights = weights(array);
        assertThat(weights).hasSizeBetween(12, 1024);
        String ptx = Files.readString(EXAMPLES.resolve("models-gpu/mlp_gpu/1/model.ptx"));
        assertThat(ptx)
                .contains(" " + array + "[" + weights.length + "] = {"
                        + IntStream.range(0, weights.length)
                                .mapToObj(i -> Integer.toString(Byte.toUnsignedInt(weights[i])))
                                .collect(Collectors.joining(", "))
                        + "}");
        byte[] onnx = Files.readAllBytes(EXAMPLES.resolve("models-gpu/mlp_onnx/1/model.onnx"));
        assertThat(new String(onnx, ISO_8859_1).indexOf(new String(weights, ISO_8859_1)))
                .as("%s in the ONNX model", HexFormat.of().formatHex(weights))
                .isPositive();
    }

    /** The numbers of an array of the header, as bytes. */
    private static byte[] weights(String array) throws Exception {
        String header = Files.readString(EXAMPLES.resolve("kernels/mlp_weights.h"));
        String numbers = header.substring(header.indexOf(" " + array + "["));
        Stream<Float> values = Pattern.compile("(-?\\d\\.\\d+e[-+]\\d+)f,")
                .matcher(numbers.substring(0, numbers.indexOf("};")))
                .results()
                .map(MatchResult::group)
                .map(text -> Float.valueOf(text.substring(0, text.length() - 1)));
        ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(bytes::putFloat);
        return Arrays.copyOf(bytes.array(), bytes.position());
    }
}
