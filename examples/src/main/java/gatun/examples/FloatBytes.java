// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** FP32 tensors as they travel: little endian, row by row, nothing between them. */
final class FloatBytes {
    private FloatBytes() {}

    static byte[] of(float[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        return bytes.array();
    }

    static float[] toFloats(ByteBuffer bytes) {
        float[] values = new float[bytes.remaining() / Float.BYTES];
        bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
        return values;
    }
}
