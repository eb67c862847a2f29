// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory as a stream. Borrows it. Used by one thread. */
final class SegmentStream extends InputStream {
    private final MemorySegment bytes;
    private long at;

    SegmentStream(MemorySegment bytes) {
        this.bytes = bytes;
    }

    @Override
    public int read() {
        return at == bytes.byteSize() ? -1 : bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        int count = (int) Math.min(length, bytes.byteSize() - at);
        if (count == 0) {
            return length == 0 ? 0 : -1;
        }
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, target, offset, count);
        at += count;
        return count;
    }
}
