// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.calls.ClientMemory;
import gatun.client.calls.ResponseBuffer;
import gatun.memory.tensor.Hold;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** Native memory that grows as bytes come. Owns it, until somebody takes the {@link #buffer}. Used by one thread. */
final class GrowingBuffer extends OutputStream implements Hold {
    private static final int MOST_AT_ONCE = 1 << 30;

    private ResponseBuffer buffer;
    private long byteSize;

    GrowingBuffer(long firstByteSize) {
        this.buffer = ClientMemory.take(firstByteSize);
    }

    /** The memory, of which the first {@link #byteSize} bytes were written. */
    ResponseBuffer buffer() {
        return buffer;
    }

    long byteSize() {
        return byteSize;
    }

    /** The written bytes; valid until the next write. */
    MemorySegment bytes() {
        return buffer.segment().asSlice(0, byteSize);
    }

    /** Takes some bytes of a body; false when it has no more. */
    boolean readFrom(ResponseBody body) throws IOException {
        require(1);
        long room = Math.min(MOST_AT_ONCE, buffer.byteSize() - byteSize);
        int count = body.read(buffer.segment().asSlice(byteSize, room).asByteBuffer());
        byteSize += Math.max(0, count);
        return count >= 0;
    }

    void write(MemorySegment bytes) {
        require(bytes.byteSize());
        MemorySegment.copy(bytes, 0, buffer.segment(), byteSize, bytes.byteSize());
        byteSize += bytes.byteSize();
    }

    @Override
    public void write(int letter) {
        require(1);
        buffer.segment().set(ValueLayout.JAVA_BYTE, byteSize++, (byte) letter);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        require(length);
        MemorySegment.copy(bytes, offset, buffer.segment(), ValueLayout.JAVA_BYTE, byteSize, length);
        byteSize += length;
    }

    @Override
    public void close() {
        buffer.close();
    }

    private void require(long more) {
        if (buffer.byteSize() - byteSize < more) {
            buffer = ClientMemory.grow(buffer, byteSize, byteSize + more);
        }
    }
}
