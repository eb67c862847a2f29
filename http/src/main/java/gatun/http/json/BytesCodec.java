package gatun.http.json;

import gatun.memory.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The raw form of BYTES tensors: for each element a 4-byte little-endian length, then that many bytes. */
public final class BytesCodec {
    /** Bytes of the length in front of each element. */
    public static final int LENGTH_BYTES = Integer.BYTES;

    private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private BytesCodec() {}

    /** Writes the length of an element at {@code offset} and answers where its bytes go. */
    public static long putLength(MemorySegment target, long offset, long byteSize) {
        target.set(LENGTH, offset, Math.toIntExact(byteSize));
        return offset + LENGTH_BYTES;
    }

    /**
     * The size in bytes of the element whose length stands at {@code offset}.
     *
     * @throws GatunException INVALID_ARGUMENT when the bytes end within the length or the element
     */
    public static long elementByteSize(MemorySegment raw, long offset) {
        long available = raw.byteSize() - offset - LENGTH_BYTES;
        long byteSize = available < 0 ? 0 : Integer.toUnsignedLong(raw.get(LENGTH, offset));
        if (byteSize > available) {
            throw GatunException.invalidArgument("a BYTES tensor ends within the element at byte " + offset
                    + ": expected " + byteSize + " bytes, got " + Math.max(available, 0));
        }
        return byteSize;
    }
}
