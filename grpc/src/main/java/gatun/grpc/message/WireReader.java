// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import gatun.wire.MemoryCursor;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Reads a request's message, up to 2<sup>31</sup> - 1 bytes. Throws {@link #malformed}. Not thread-safe. */
public sealed class WireReader extends MemoryCursor permits LimitedReader {
    /** A reader of all of {@code bytes}, at most 2^31 - 1. */
    public WireReader(MemorySegment bytes) {
        super(bytes, 0, bytes.byteSize());
        Objects.checkIndex(bytes.byteSize(), 1L << 31);
    }

    /** The position of the next byte. */
    public final int position() {
        return (int) at;
    }

    /** The position where reading ends. */
    public final int limit() {
        return (int) end;
    }

    /** The length of a length-delimited field, which begins at {@link #position()} and lies within the limit. */
    public final int length() {
        return (int) readLength();
    }

    /** Passes over {@code count} bytes; returns the position of the first. */
    public final int advance(int count) {
        return (int) passOver(count);
    }

    @Override
    protected final void pause() {
        CooperativeYield.now();
    }

    /** The exception for a message that is not well formed. */
    @Override
    public final GatunException malformed(String problem) {
        return GatunException.invalidArgument(
                "the request message is not valid: " + problem + " at byte " + at + " of " + bytes().byteSize());
    }

    /**
     * Reads a message at {@code start} that holds one number, and leaves the reader behind it.
     *
     * @return the number in {@code field}; 0 where it is missing
     */
    public final long numberIn(int start, int length, int field) {
        int limit = limit();
        long number = 0;
        window(start, start + length);
        while (hasMore()) {
            int tag = tag();
            if (tag == (field << 3 | VARINT)) {
                number = varint();
            } else {
                skip(tag);
            }
        }
        window(start + length, limit);
        return number;
    }
}
