// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The JSON of a connection's last response and the layout read from it: responses to similar requests have the same.
 * Used by one thread.
 */
final class LayoutMemory {
    private MemorySegment json = MemorySegment.NULL;
    private @Nullable InferLayout layout;

    /** The layout in these bytes of JSON, or null where they differ from the last ones. */
    @Nullable
    InferLayout find(MemorySegment buffer, long from, long byteSize) {
        return layout != null
                        && json.byteSize() == byteSize
                        && MemorySegment.mismatch(json, 0, byteSize, buffer, from, from + byteSize) < 0
                ? layout
                : null;
    }

    /** Remembers the layout in {@code bytes}, which never change. */
    void put(byte[] bytes, InferLayout said) {
        json = MemorySegment.ofArray(bytes);
        layout = said;
    }
}
