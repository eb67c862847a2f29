// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.MalformedResponseException;
import gatun.client.calls.ResponseBuffer;
import gatun.memory.tensor.Hold;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A body in native memory, decompressed. Owns the memory. */
final class WholeBody implements Hold {
    private static final int FIRST_BYTES = 16 << 10;

    private final ResponseBuffer buffer;
    private final long byteSize;

    private WholeBody(ResponseBuffer buffer, long byteSize) {
        this.buffer = buffer;
        this.byteSize = byteSize;
    }

    /** Throws {@link MalformedResponseException} when the body has more than {@code limit} bytes. */
    static WholeBody read(HttpConnection connection, long limit) throws IOException {
        WholeBody body = readUpTo(connection, limit);
        if (body.byteSize > limit) {
            body.close();
            throw new MalformedResponseException("it has more than " + limit + " bytes: expected at most that many");
        }
        return body;
    }

    /** Reads the body; stops somewhat behind {@code limit} bytes where it is longer. */
    static WholeBody readUpTo(HttpConnection connection, long limit) throws IOException {
        ResponseBody body = connection.body();
        // A length is believed as far as bytes come.
        GrowingBuffer target = new GrowingBuffer(FIRST_BYTES);
        try {
            if (connection.head().encoding() == ResponseHead.Encoding.IDENTITY) {
                while (target.byteSize() <= limit && target.readFrom(body)) {
                    // Until there is no more.
                }
            } else {
                BodyCompression.copy(connection.head().encoding(), body, target, limit);
            }
            return new WholeBody(target.buffer(), target.byteSize());
        } catch (Throwable t) {
            target.close();
            throw t;
        }
    }

    /** The bytes; valid until {@link #close}. */
    MemorySegment bytes() {
        return buffer.segment().asSlice(0, byteSize);
    }

    @Override
    public void close() {
        buffer.close();
    }
}
