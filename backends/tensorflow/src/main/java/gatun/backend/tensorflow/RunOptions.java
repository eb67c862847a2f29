// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A {@code TF_Buffer} with a run's timeout, the C API's only way to end a run. For one thread at a time. */
final class RunOptions {
    /** RunOptions.timeout_in_ms, a varint. */
    private static final byte TIMEOUT = 2 << 3;

    private static final int MOST_VARINT_BYTES = 10;
    private static final int SEVEN_BITS = 0x7F;
    private static final int MORE = 0x80;

    /** The message, its length, and a function that frees it. */
    private static final long BUFFER_BYTES = 3L * Long.BYTES;

    private static final long LENGTH_OFFSET = Long.BYTES;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final MemorySegment buffer;
    private final MemorySegment message;

    /** @param arena holds the buffer; open for as long as this is used */
    RunOptions(Arena arena) {
        buffer = arena.allocate(BUFFER_BYTES, Long.BYTES);
        message = arena.allocate(1 + MOST_VARINT_BYTES);
        message.set(ValueLayout.JAVA_BYTE, 0, TIMEOUT);
        buffer.set(ValueLayout.ADDRESS, 0, message);
    }

    /**
     * The options of a run of at most {@code nanos}, valid until the next call; NULL for {@link Long#MAX_VALUE}. The
     * engine ends the run a little later, when others have noticed too that nobody waits.
     */
    MemorySegment timeout(long nanos) {
        if (nanos == Long.MAX_VALUE) {
            return MemorySegment.NULL;
        }
        long left = Math.max(0, nanos) / NANOS_PER_MILLI + 1;
        int at = 1;
        while (left > SEVEN_BITS) {
            message.set(ValueLayout.JAVA_BYTE, at++, (byte) ((left & SEVEN_BITS) | MORE));
            left >>>= 7;
        }
        message.set(ValueLayout.JAVA_BYTE, at++, (byte) left);
        buffer.set(ValueLayout.JAVA_LONG, LENGTH_OFFSET, at);
        return buffer;
    }
}
