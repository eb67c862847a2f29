// SPDX-License-Identifier: Apache-2.0
package gatun.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The bytes of one run of a fuzz target, and what every target asks of the code under test: its heap allocations are
 * bounded by the size of the input. Stateless.
 */
public final class FuzzInput {
    /**
     * Bytes that a run may allocate beyond those that its input's size allows. The bug to find, a small input that asks
     * for much, exceeds it.
     */
    private static final long ALLOCATED_BYTES = 4L << 20;

    /** First runs load classes, which Jazzer changes on the same thread: a run beyond the limit is measured again. */
    private static final int TRIES = 3;

    /** The most bytes of the heap for each byte of input. */
    private static final long ALLOCATED_BYTES_PER_BYTE = 2048;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private FuzzInput() {}

    /**
     * Runs the code under test, which must do the same each time.
     *
     * @throws AssertionError when it allocates more than {@code input} accounts for
     */
    public static void run(byte[] input, Runnable underTest) {
        long limit = ALLOCATED_BYTES + ALLOCATED_BYTES_PER_BYTE * input.length;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && least > limit; i++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            underTest.run();
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        if (least > limit) {
            throw new AssertionError("an input of " + input.length + " bytes took " + least
                    + " bytes of the heap, expected at most " + limit);
        }
    }

    /** The input in memory of {@code arena}, exactly as long, at least one byte. */
    public static MemorySegment inMemory(Arena arena, byte[] input) {
        MemorySegment memory = arena.allocate(Math.max(1, input.length));
        MemorySegment.copy(input, 0, memory, ValueLayout.JAVA_BYTE, 0, input.length);
        return memory.asSlice(0, input.length);
    }

    /** The input as text; empty when it is not UTF-8. */
    public static Optional<String> text(byte[] input) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(input))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /**
     * Requires two readers to agree.
     *
     * @throws AssertionError when they do not
     */
    public static void requireEqual(Object ours, Object theirs, String what) {
        if (!ours.equals(theirs)) {
            throw new AssertionError(what + ": read " + ours + ", expected " + theirs);
        }
    }

    /**
     * Requires a condition that holds for every input.
     *
     * @throws AssertionError when it does not
     */
    public static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
