// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Reads one frame. Little endian; lengths are checked. Not thread-safe; valid while the frame is handled. */
public final class FrameReader {
    private final ByteBuffer bytes;

    FrameReader(ByteBuffer bytes) {
        this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** An unsigned byte. */
    public int u8() {
        try {
            return bytes.get() & 0xFF;
        } catch (BufferUnderflowException e) {
            throw tooShort(e);
        }
    }

    /** Four bytes. */
    public int u32() {
        try {
            return bytes.getInt();
        } catch (BufferUnderflowException e) {
            throw tooShort(e);
        }
    }

    /** Eight bytes. */
    public long u64() {
        try {
            return bytes.getLong();
        } catch (BufferUnderflowException e) {
            throw tooShort(e);
        }
    }

    /** A double. */
    public double f64() {
        return Double.longBitsToDouble(u64());
    }

    /** The length of a list, whose items have at least so many bytes each. */
    public int count(int leastBytes) {
        long count = Integer.toUnsignedLong(u32());
        if (count * leastBytes > bytes.remaining()) {
            throw tooShort(new BufferUnderflowException());
        }
        return (int) count;
    }

    /** A list, whose items have at least so many bytes each and are read by {@code item}. */
    public <T> List<T> list(int leastBytes, Supplier<T> item) {
        int count = count(leastBytes);
        List<T> items = new ArrayList<>(); // not of that size: a broken worker may claim items that do not follow
        for (int i = 0; i < count; i++) {
            items.add(item.get());
        }
        return items;
    }

    /** A text. */
    public String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    /** Bytes with their length in front. */
    public byte[] bytes() {
        byte[] value = new byte[count(1)];
        bytes.get(value);
        return value;
    }

    private static MalformedFrameException tooShort(Throwable cause) {
        return new MalformedFrameException("a worker sent a frame that ends too early", cause);
    }
}
