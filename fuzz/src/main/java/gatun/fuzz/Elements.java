// SPDX-License-Identifier: Apache-2.0
package gatun.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;

/** The elements of a tensor as they must lie in memory, by simple means. Not thread-safe. */
public final class Elements {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Adds the low {@code byteSize} bytes of {@code value}, the lowest first. */
    public void add(long value, int byteSize) {
        for (int i = 0; i < byteSize; i++) {
            bytes.write((int) (value >>> (Byte.SIZE * i)));
        }
    }

    /** Adds a string, its length first. */
    public void addString(byte[] text) {
        add(text.length, Integer.BYTES);
        bytes.writeBytes(text);
    }

    /** Adds what lies there already as elements do. */
    public void addAll(byte[] elements) {
        bytes.writeBytes(elements);
    }

    /** How many bytes there are. */
    public long byteSize() {
        return bytes.size();
    }

    /** All elements as text. */
    public String hex() {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}
