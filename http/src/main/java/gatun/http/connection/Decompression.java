// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.GzipInput;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import gatun.spi.Setting;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/** Decompresses bodies, of which the first bytes tell whether it is gzip or zlib. Safe for any thread. */
public final class Decompression {
    private static final int GZIP_MAGIC = 0x8B1F;
    private static final int PIECE = 8 * 1024;

    private final BufferPool buffers;
    private final long maxByteSize;

    /** Decompresses into buffers of {@code buffers}, up to {@code maxByteSize} bytes. */
    public Decompression(BufferPool buffers, long maxByteSize) {
        this.buffers = buffers;
        this.maxByteSize = maxByteSize;
    }

    /** Decompresses into a buffer of the caller's, from {@code landing} on. Throws INVALID_ARGUMENT if malformed. */
    public RequestBody.Landed inflate(MemorySegment compressed, int landing) {
        try {
            return read(compressed, landing);
        } catch (ZipException | EOFException e) {
            throw GatunException.invalidArgument("the request body is not what its Content-Encoding says: "
                    + e.getMessage() + "; send gzip or zlib data");
        } catch (IOException e) {
            throw new UncheckedIOException("reading memory", e);
        }
    }

    /** The same, but empty when it is not compressed. Throws GatunException INVALID_ARGUMENT when it is too long. */
    public Optional<RequestBody.Landed> inflateIfCompressed(MemorySegment compressed, int landing) {
        try {
            return Optional.of(read(compressed, landing));
        } catch (ZipException | EOFException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("reading memory", e);
        }
    }

    private RequestBody.Landed read(MemorySegment compressed, int landing) throws IOException {
        Buffer buffer = buffers.take(landing + Math.min(maxByteSize, Math.max(PIECE, 4 * compressed.byteSize())));
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        try (InputStream source = open(compressed, work)) {
            byte[] piece = new byte[PIECE];
            long byteSize = 0;
            for (int read = source.read(piece); read >= 0; read = source.read(piece)) {
                if (byteSize + read > maxByteSize) {
                    throw tooLong(byteSize + read);
                }
                buffer = buffers.grow(buffer, landing + byteSize, landing + byteSize + read);
                MemorySegment.copy(piece, 0, buffer.segment(), ValueLayout.JAVA_BYTE, landing + byteSize, read);
                byteSize += read;
                work.worked(read);
            }
            return new RequestBody.Landed(buffer, landing, byteSize);
        } catch (Throwable t) {
            buffer.close();
            throw t;
        }
    }

    /** The failure of a body that is too long when decompressed. */
    public GatunException tooLong(long byteSize) {
        return GatunException.invalidArgument("Decompressed data size exceeds the maximum allowed value of "
                + maxByteSize + " bytes. Use " + Setting.HTTP_MAX_INPUT_SIZE + " to increase the limit.");
    }

    private static InputStream open(MemorySegment compressed, CooperativeYield work) throws IOException {
        InputStream bytes = new SegmentStream(compressed, work);
        boolean gzip = compressed.byteSize() >= 2
                && (compressed.get(ValueLayout.JAVA_SHORT_UNALIGNED, 0) & 0xFFFF) == GZIP_MAGIC;
        return gzip ? new GzipInput(bytes, PIECE) : new InflaterInputStream(bytes);
    }

    /** Native memory as a stream. What is read counts as work too: it may become no bytes at all. */
    private static final class SegmentStream extends InputStream {
        private final MemorySegment segment;
        private final CooperativeYield work;
        private long at;

        SegmentStream(MemorySegment segment, CooperativeYield work) {
            this.segment = segment;
            this.work = work;
        }

        @Override
        public int read() {
            return at == segment.byteSize() ? -1 : segment.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int count = (int) Math.min(length, segment.byteSize() - at);
            if (count == 0) {
                return length == 0 ? 0 : -1;
            }
            MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, target, offset, count);
            at += count;
            work.worked(count);
            return count;
        }
    }
}
