// SPDX-License-Identifier: Apache-2.0
package gatun.it.trees;

import gatun.it.harness.ExampleModels;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The models of {@code examples/trees}, rows to ask them about, and what their libraries' own packages answer. */
final class ExampleForests {
    static final int FEATURES = 6;

    /** The models, and the files with the answers. */
    static final ExampleModels ALL = ExampleModels.of("trees");

    private ExampleForests() {}

    /** The rows, missing values as NaN. */
    static double[][] rows() throws IOException {
        return numbers(ALL.expected("rows"));
    }

    /** What {@code model} answers: {@code value}, {@code contributions} or {@code leaves}, for each row. */
    static double[][] expected(String model, String quantity) throws IOException {
        return numbers(Objects.requireNonNull(((Map<?, ?>) ALL.expected(model)).get(quantity)));
    }

    private static double[][] numbers(Object rows) {
        return ((List<?>) rows)
                .stream()
                        .map(row -> ((List<?>) row)
                                .stream()
                                        .mapToDouble(
                                                number -> number == null ? Double.NaN : ((Number) number).doubleValue())
                                        .toArray())
                        .toArray(double[][]::new);
    }

    /** All numbers as floats, one row after the other. */
    static float[] floats(double[][] rows) {
        double[] all = Arrays.stream(rows).flatMapToDouble(Arrays::stream).toArray();
        float[] floats = new float[all.length];
        for (int i = 0; i < all.length; i++) {
            floats[i] = (float) all[i];
        }
        return floats;
    }

    /** As they are sent. */
    static byte[] bytes(float... floats) {
        ByteBuffer bytes = ByteBuffer.allocate(floats.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(floats);
        return bytes.array();
    }

    /** As they were sent. */
    static float[] floats(ByteBuffer bytes) {
        float[] floats = new float[bytes.remaining() / Float.BYTES];
        bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
        return floats;
    }
}
