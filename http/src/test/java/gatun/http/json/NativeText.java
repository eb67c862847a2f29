// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Texts in native memory, as requests bring them. */
final class NativeText {
    /** Bytes before and after the text. */
    private static final int MARGIN = 9;

    private NativeText() {}

    /** A reader of {@code json}, which lives in {@code arena}, with digits around it that must not be read. */
    static JsonReader reader(Arena arena, String json) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        MemorySegment text = arena.allocate(bytes.length + 2L * MARGIN).fill((byte) '1');
        MemorySegment.copy(bytes, 0, text, ValueLayout.JAVA_BYTE, MARGIN, bytes.length);
        return new JsonReader(text, MARGIN, bytes.length);
    }
}
