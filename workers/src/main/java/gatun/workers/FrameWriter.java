// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes one frame after the other into memory that it keeps. Little endian. For one thread at a time. */
public final class FrameWriter {
    private static final int LENGTH_BYTES = Integer.BYTES;

    private ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);

    FrameWriter() {}

    void begin(int kind) {
        bytes.clear();
        bytes.putInt(0);
        u8(kind);
    }

    /** Ends the frame, and gives it with its length in front. Valid until the next begins. */
    ByteBuffer end() {
        bytes.putInt(0, bytes.position() - LENGTH_BYTES);
        bytes.flip();
        return bytes;
    }

    private void require(int more) {
        if (bytes.remaining() < more) {
            int least = Math.addExact(bytes.position(), more);
            int larger = (int) Math.min(Integer.MAX_VALUE - 8L, Math.max(least, 2L * bytes.capacity()));
            bytes = ByteBuffer.allocate(larger).order(ByteOrder.LITTLE_ENDIAN).put(bytes.flip());
        }
    }

    /** An unsigned byte. */
    public FrameWriter u8(int value) {
        require(Byte.BYTES);
        bytes.put((byte) value);
        return this;
    }

    /** Four bytes. */
    public FrameWriter u32(int value) {
        require(Integer.BYTES);
        bytes.putInt(value);
        return this;
    }

    /** Eight bytes. */
    public FrameWriter u64(long value) {
        require(Long.BYTES);
        bytes.putLong(value);
        return this;
    }

    /** A double. */
    public FrameWriter f64(double value) {
        return u64(Double.doubleToRawLongBits(value));
    }

    /** A text in UTF-8, its length in front. */
    public FrameWriter text(String value) {
        return bytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes, their number in front. */
    public FrameWriter bytes(byte[] value) {
        u32(value.length);
        require(value.length);
        bytes.put(value);
        return this;
    }
}
