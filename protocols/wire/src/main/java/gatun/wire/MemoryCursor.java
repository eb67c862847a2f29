// SPDX-License-Identifier: Apache-2.0
package gatun.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads protobuf's wire format from memory. Positions are offsets in that memory. One thread uses it. */
public abstract class MemoryCursor extends WireCursor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment bytes;

    /** A cursor that reads from {@code at} to {@code end} of {@code bytes}. */
    protected MemoryCursor(MemorySegment bytes, long at, long end) {
        super(at, end);
        this.bytes = bytes;
    }

    @Override
    protected final int nextByte() {
        return bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xff;
    }

    @Override
    protected final void pass(long count) {
        at += count;
    }

    /** The memory. */
    protected final MemorySegment bytes() {
        return bytes;
    }

    /** Reads from {@code start} to {@code end} from now on. */
    public final void window(long start, long end) {
        moveTo(start);
        this.end = end;
    }

    /** Four bytes. */
    public final int fixed32() {
        return bytes.get(INT, passOver(Integer.BYTES));
    }

    /** Eight bytes. */
    public final long fixed64() {
        return bytes.get(LONG, passOver(Long.BYTES));
    }
}
