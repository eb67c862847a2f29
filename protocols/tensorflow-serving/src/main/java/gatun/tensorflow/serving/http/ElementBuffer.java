// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.Base64Text;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeCopy;
import java.lang.foreign.MemorySegment;

/** Native memory that grows; owns its buffer until {@linkplain #release released}. Not thread-safe. */
final class ElementBuffer implements AutoCloseable {
    private static final long FIRST_BYTES = 1024;
    private static final int LONGEST_VARINT = 10;

    /** How many numbers are read in one go: others get their turn of the carrier thread in between. */
    private static final int FLOATS_AT_ONCE = 16 * 1024;

    /** The most bytes of a text that an error shows. */
    private static final int SHOWN_BYTES = 256;

    private final BufferPool pool;
    private Buffer buffer;
    private MemorySegment target;
    private long byteSize;
    private long from;
    private boolean released;

    /** Takes a first buffer from {@code pool}. */
    ElementBuffer(BufferPool pool) {
        this.pool = pool;
        this.buffer = pool.take(FIRST_BYTES);
        this.target = buffer.segment();
    }

    long byteSize() {
        return byteSize;
    }

    /** Drops the bytes beyond the first {@code newByteSize}. */
    void rewind(long newByteSize) {
        byteSize = newByteSize;
    }

    /** Makes room for {@code more} bytes. */
    void reserve(long more) {
        if (more > target.byteSize() - byteSize) {
            buffer = pool.grow(buffer, byteSize, byteSize + more);
            target = buffer.segment();
        }
    }

    void putByte(int value) {
        reserve(Byte.BYTES);
        target.set(JAVA_BYTE, byteSize, (byte) value);
        byteSize += Byte.BYTES;
    }

    void putShort(int value) {
        reserve(Short.BYTES);
        target.set(ElementLayouts.INT16, byteSize, (short) value);
        byteSize += Short.BYTES;
    }

    void putInt(int value) {
        reserve(Integer.BYTES);
        target.set(ElementLayouts.INT32, byteSize, value);
        byteSize += Integer.BYTES;
    }

    void putLong(long value) {
        reserve(Long.BYTES);
        target.set(ElementLayouts.INT64, byteSize, value);
        byteSize += Long.BYTES;
    }

    void putFloat(float value) {
        reserve(Float.BYTES);
        target.set(ElementLayouts.FP32, byteSize, value);
        byteSize += Float.BYTES;
    }

    /** Appends numbers, as {@link JsonReader#readFloats} does, up to the room; returns how many. */
    long putFloats(JsonReader json, long most) {
        long room = Math.min(FLOATS_AT_ONCE, (target.byteSize() - byteSize) / Float.BYTES);
        long count = json.readFloats(target, byteSize, Math.min(most, room));
        byteSize += count * Float.BYTES;
        return count;
    }

    void putDouble(double value) {
        reserve(Double.BYTES);
        target.set(ElementLayouts.FP64, byteSize, value);
        byteSize += Double.BYTES;
    }

    void putString(JsonReader json) {
        long length = json.measureString("");
        reserve(BytesCodec.LENGTH_BYTES + length);
        json.copyString(target, BytesCodec.putLength(target, byteSize, length));
        byteSize += BytesCodec.LENGTH_BYTES + length;
    }

    /** Appends the bytes of the Base64 text at {@code json}, with their length in front. Throws INVALID_ARGUMENT. */
    void putBase64(JsonReader json) {
        long start = byteSize;
        putInt(0);
        appendBase64(json);
        setInt(start, Math.toIntExact(byteSize - start - BytesCodec.LENGTH_BYTES));
    }

    private void appendBase64(JsonReader json) {
        long length = json.measureString("");
        reserve(length);
        json.copyString(target, byteSize);
        long decoded = Base64Text.decodeLenient(target, byteSize, length);
        if (decoded < 0) {
            throw GatunException.invalidArgument("Unable to base64 decode");
        }
        byteSize += decoded;
    }

    void putVarint(long value) {
        reserve(LONGEST_VARINT);
        byteSize = putVarint(byteSize, value);
    }

    private long putVarint(long offset, long value) {
        long at = offset;
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            target.set(JAVA_BYTE, at++, (byte) (rest | 0x80));
            rest >>>= 7;
        }
        target.set(JAVA_BYTE, at++, (byte) rest);
        return at;
    }

    /** Begins a nested protobuf message of unknown length; returns the argument for {@link #endMessage}. */
    long beginMessage() {
        // Most are short: their length takes this byte, and nothing has to be moved for it.
        putByte(0);
        return byteSize;
    }

    void endMessage(long start) {
        long length = byteSize - start;
        int more = varintByteSize(length) - 1;
        if (more > 0) {
            reserve(more);
            CooperativeCopy.copy(target, start, target, start + more, length);
            byteSize += more;
        }
        putVarint(start - 1, length);
    }

    private static int varintByteSize(long value) {
        return (Long.SIZE - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
    }

    /** Appends the name of {@code json}'s member as a protobuf string; returns its begin behind the length. */
    long putName(JsonReader json) {
        long length = json.nameByteSize();
        putVarint(length);
        reserve(length);
        long start = byteSize;
        json.copyString(target, start);
        byteSize += length;
        return start;
    }

    /** The text in the {@code length} bytes at {@code offset}, which were appended; cut where it is long. */
    String text(long offset, long length) {
        return length <= SHOWN_BYTES
                ? BytesCodec.text(target, offset, length)
                : BytesCodec.text(target, offset, SHOWN_BYTES) + "...";
    }

    /** Appends the string that {@code json} stands at as one of a protobuf message, with its length. */
    void putDelimited(JsonReader json) {
        long length = json.measureString("");
        putVarint(length);
        reserve(length);
        json.copyString(target, byteSize);
        byteSize += length;
    }

    /** Appends the bytes of the Base64 text that {@code json} stands at, as {@link #putDelimited} does. */
    void putDelimitedBase64(JsonReader json) {
        long start = beginMessage();
        appendBase64(json);
        endMessage(start);
    }

    /** Appends the bytes at {@code offset} once more. */
    void putCopy(long offset, long length) {
        reserve(length);
        CooperativeCopy.copy(target, offset, target, byteSize, length);
        byteSize += length;
    }

    void setInt(long offset, int value) {
        target.set(ElementLayouts.INT32, offset, value);
    }

    /** Leaves the first {@code count} bytes out of {@link #elements}. */
    void dropFirst(long count) {
        from = count;
    }

    /** The appended bytes; valid as long as their buffer. */
    MemorySegment elements() {
        return target.asSlice(from, byteSize - from);
    }

    /** Gives the buffer away, which the caller owns then. */
    Buffer release() {
        released = true;
        return buffer;
    }

    @Override
    public void close() {
        if (!released) {
            released = true;
            buffer.close();
        }
    }
}
