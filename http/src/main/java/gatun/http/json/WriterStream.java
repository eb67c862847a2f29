// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.io.OutputStream;
import java.lang.foreign.MemorySegment;

/** A {@link JsonWriter} as a stream, for code that writes bytes. For one thread; closing it does nothing. */
public final class WriterStream extends OutputStream {
    private final JsonWriter target;

    /** Writes to {@code target}. */
    public WriterStream(JsonWriter target) {
        this.target = target;
    }

    @Override
    public void write(int oneByte) {
        target.raw((char) (oneByte & 0xFF));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        if (offset == 0) {
            target.raw(bytes, length);
        } else {
            target.raw(MemorySegment.ofArray(bytes).asSlice(offset, length));
        }
    }
}
