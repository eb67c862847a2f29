// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.streams.InboundMessage;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import io.grpc.Decompressor;
import io.grpc.Status;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Unpacks compressed messages into pooled buffers; never more than a message may have. */
public final class Decompression {
    private static final int CHUNK = 16 * 1024;

    /** How much larger than its compressed form a message is taken to be at first. */
    private static final int USUAL_RATIO = 4;

    private final BufferPool pool;
    private final long sizeLimit;

    public Decompression(BufferPool pool, long sizeLimit) {
        this.pool = pool;
        this.sizeLimit = sizeLimit;
    }

    /** The unpacked message; closes the packed one. Throws StatusRuntimeException: damaged, too large, no room. */
    InboundMessage unpack(InboundMessage packed, Decompressor decompressor) {
        Buffer target = null;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        try (packed;
                InputStream unpacked = decompressor.decompress(new CountedInput(packed, work))) {
            target = pool.take(Math.min(
                    Math.min(sizeLimit, pool.largestByteSize()),
                    Math.max(CHUNK, USUAL_RATIO * packed.segment().byteSize())));
            byte[] chunk = new byte[CHUNK];
            long size = 0;
            for (int count = unpacked.read(chunk); count >= 0; count = unpacked.read(chunk)) {
                if (size + count > sizeLimit) {
                    throw Status.RESOURCE_EXHAUSTED
                            .withDescription(
                                    "a decompressed request message exceeds the limit of " + sizeLimit + " bytes")
                            .asRuntimeException();
                }
                target = pool.grow(target, size, size + count);
                MemorySegment.copy(chunk, 0, target.segment(), ValueLayout.JAVA_BYTE, size, count);
                size += count;
                work.worked(count);
            }
            InboundMessage message = new InboundMessage(target.segment().asSlice(0, size), target);
            target = null;
            return message;
        } catch (GatunException e) {
            throw Status.RESOURCE_EXHAUSTED.withDescription(e.getMessage()).asRuntimeException();
        } catch (IOException e) {
            throw Status.INVALID_ARGUMENT
                    .withDescription("a request message cannot be decompressed: " + e.getMessage())
                    .withCause(e)
                    .asRuntimeException();
        } finally {
            if (target != null) {
                target.close();
            }
        }
    }

    /** Counts what is read as work, too: it may become no bytes at all. */
    private static final class CountedInput extends FilterInputStream {
        private final CooperativeYield work;

        CountedInput(InputStream packed, CooperativeYield work) {
            super(packed);
            this.work = work;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int count = super.read(target, offset, length);
            work.worked(Math.max(0, count));
            return count;
        }
    }
}
