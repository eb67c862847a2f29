// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The next write: staged bytes, and between them native memory where it lies. Used under the writer's lock. */
final class WriteBatch {
    /** Where a full batch goes. */
    @FunctionalInterface
    interface Sink {
        /** Writes all bytes of the first {@code count} buffers. */
        void write(ByteBuffer[] buffers, int count) throws IOException;
    }

    /** Up to this size copying native memory is cheaper than one more buffer in a gathering write. */
    private static final int COPY_SIZE = 4 * 1024;

    /** More than any one control action appends, but for refusals with a long text. */
    private static final int CONTROL_ROOM = 1024;

    private final ConnectionBuffers pool;
    private final ByteBuffer small;
    private final MemorySegment smallMemory;
    private final Sink sink;

    /** The small buffer, or a large one until the next flush. */
    private ByteBuffer staging;

    private MemorySegment memory;
    private boolean large;
    private ByteBuffer[] buffers = new ByteBuffer[16];
    private int count;

    /** Where the staged bytes begin that are not among the buffers yet. */
    private int start;

    WriteBatch(ConnectionBuffers pool, Sink sink) {
        this.pool = pool;
        this.small = pool.small().take();
        this.smallMemory = MemorySegment.ofBuffer(small);
        this.staging = small;
        this.memory = smallMemory;
        this.sink = sink;
    }

    boolean isEmpty() {
        return count == 0 && staging.position() == 0;
    }

    /** Whether control frames still fit without a write. */
    boolean hasRoom() {
        return staging.remaining() >= CONTROL_ROOM;
    }

    /** Makes room for {@code size} bytes, much fewer than the staging buffer has. */
    void ensure(int size) throws IOException {
        if (staging.remaining() >= size) {
            return;
        }
        if (!large) {
            cutStaged();
            large = true;
            staging = pool.large().take();
            memory = MemorySegment.ofBuffer(staging);
            start = 0;
        } else {
            flush();
        }
    }

    /** Stages a byte; {@link #ensure} came before. */
    void putByte(byte value) {
        staging.put(value);
    }

    /** Stages four bytes; {@link #ensure} came before. */
    void putInt(int value) {
        staging.putInt(value);
    }

    void put(byte[] bytes, int offset, int length) throws IOException {
        int done = 0;
        while (done < length) {
            ensure(1);
            int step = Math.min(length - done, staging.remaining());
            staging.put(bytes, offset + done, step);
            done += step;
        }
    }

    /** Adds memory that stays valid until the batch is flushed. */
    void put(MemorySegment source, long offset, int length) throws IOException {
        if (source.isNative() && length > COPY_SIZE) {
            cutStaged();
            add(source.asSlice(offset, length).asByteBuffer());
            return;
        }
        int done = 0;
        while (done < length) {
            ensure(1);
            int step = Math.min(length - done, staging.remaining());
            MemorySegment.copy(source, offset + done, memory, staging.position(), step);
            staging.position(staging.position() + step);
            done += step;
        }
    }

    void flush() throws IOException {
        if (isEmpty()) {
            return;
        }
        if (count == 0) {
            add(staging.flip());
        } else {
            cutStaged();
        }
        try {
            sink.write(buffers, count);
        } finally {
            Arrays.fill(buffers, 0, count, null);
            count = 0;
            start = 0;
            useSmall();
        }
    }

    private void useSmall() {
        ByteBuffer before = staging;
        staging = small.clear();
        memory = smallMemory;
        if (large) {
            large = false;
            pool.large().give(before);
        }
    }

    /** Gives back the buffers; nothing is staged afterwards. */
    void release() {
        useSmall();
        pool.small().give(small);
    }

    private void cutStaged() {
        int end = staging.position();
        if (end > start) {
            add(staging.slice(start, end - start));
            start = end;
        }
    }

    private void add(ByteBuffer buffer) {
        if (count == buffers.length) {
            buffers = Arrays.copyOf(buffers, 2 * count);
        }
        buffers[count++] = buffer;
    }
}
