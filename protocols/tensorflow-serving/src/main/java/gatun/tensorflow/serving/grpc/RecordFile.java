// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Hold;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32C;

/** Reads TFRecord files record by record: length, checksum, bytes, checksum. Not thread-safe. */
final class RecordFile implements AutoCloseable {
    private static final int LENGTH_BYTES = Long.BYTES;
    private static final int CHECKSUM_BYTES = Integer.BYTES;
    private static final int HEAD_BYTES = LENGTH_BYTES + CHECKSUM_BYTES;

    /** A checksum in the file is turned and raised, so that a record may hold records. */
    private static final int TURNED_BITS = 15;

    private static final int RAISED_BY = 0xa282ead8;

    private final FileChannel file;
    private final BufferPool pool;
    private final ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer foot = ByteBuffer.allocate(CHECKSUM_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long position;

    /** A record is not what was written; the text says where it begins. */
    static final class DamagedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        DamagedException(String text) {
            super(text);
        }
    }

    /** One record; whoever got it closes it. {@code bytes} is the record itself. */
    record Entry(MemorySegment bytes, Hold memory) implements AutoCloseable {
        @Override
        public void close() {
            memory.close();
        }
    }

    private RecordFile(FileChannel file, BufferPool pool) {
        this.file = file;
        this.pool = pool;
    }

    /** Opens a file at its first record. Throws {@link UncheckedIOException} when it cannot be opened. */
    static RecordFile open(Path path, BufferPool pool) {
        try {
            return new RecordFile(FileChannel.open(path), pool);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The next record, in memory of the pool; empty at the end of the file.
     *
     * @throws DamagedException when the record is not whole
     * @throws UncheckedIOException when the file cannot be read
     */
    Optional<Entry> next() {
        try {
            long left = file.size() - position;
            if (left == 0) {
                return Optional.empty();
            }
            if (left < HEAD_BYTES) {
                throw damaged("truncated");
            }
            read(head);
            long length = head.getLong(0);
            if (head.getInt(LENGTH_BYTES) != checksum(head.limit(LENGTH_BYTES)) || length < 0) {
                throw damaged("corrupted");
            }
            if (length > left - HEAD_BYTES - CHECKSUM_BYTES || length > Integer.MAX_VALUE) {
                throw damaged("truncated");
            }
            return Optional.of(body((int) length));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Entry body(int length) throws IOException {
        Buffer buffer = pool.take(Math.max(1, length));
        try {
            MemorySegment bytes = buffer.segment().asSlice(0, length);
            ByteBuffer target = bytes.asByteBuffer();
            read(target);
            read(foot);
            if (foot.getInt(0) != checksum(target)) {
                throw damaged("corrupted");
            }
            position += (long) HEAD_BYTES + length + CHECKSUM_BYTES;
            return new Entry(bytes, buffer);
        } catch (IOException | RuntimeException | Error e) {
            buffer.close();
            throw e;
        }
    }

    /** Fills a buffer from the start and leaves it to be read from there. */
    private void read(ByteBuffer target) throws IOException {
        target.clear();
        while (target.hasRemaining()) {
            if (file.read(target) < 0) {
                throw damaged("truncated");
            }
        }
        target.flip();
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return Integer.rotateRight((int) checksum.getValue(), TURNED_BITS) + RAISED_BY;
    }

    private DamagedException damaged(String how) {
        return new DamagedException(how + " record at " + position);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
