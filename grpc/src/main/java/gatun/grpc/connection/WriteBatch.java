package gatun.grpc.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What the next write to the transport will carry: bytes staged one after the other in one native buffer, and between them
 * native memory that is written from where it lies. Used under the writer's lock.
 */
final class WriteBatch {
    /** Where a full batch goes. */
    @FunctionalInterface
    interface Sink {
        /** Writes all bytes of the first {@code count} buffers. */
        void write(ByteBuffer[] buffers, int count) throws IOException;
    }

    /** Up to this size copying native memory is cheaper than one more buffer in a gathering write. */
    private static final int COPY_SIZE = 4 * 1024;

    /** More than any one control action appends. */
    private static final int CONTROL_ROOM = 8 * 1024;

    private final ByteBuffer staging;
    private final MemorySegment memory;
    private final Sink sink;
    private ByteBuffer[] buffers = new ByteBuffer[16];
    private int count;

    /** Where the staged bytes begin that are not among the buffers yet. */
    private int start;

    WriteBatch(ByteBuffer staging, Sink sink) {
        this.staging = staging.clear();
        this.memory = MemorySegment.ofBuffer(staging);
        this.sink = sink;
    }

    /** Whether there is nothing to write. */
    boolean isEmpty() {
        return count == 0 && staging.position() == 0;
    }

    /** Whether control frames still fit without a write. */
    boolean hasRoom() {
        return staging.remaining() >= CONTROL_ROOM;
    }

    /** Makes room for {@code size} bytes, much fewer than the staging buffer has. */
    void ensure(int size) throws IOException {
        if (staging.remaining() < size) {
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

    /** Stages bytes of any number. */
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

    /** Writes everything, if there is anything. */
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
            staging.clear();
        }
    }

    /** The buffer that this was made with. */
    ByteBuffer staging() {
        return staging;
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
