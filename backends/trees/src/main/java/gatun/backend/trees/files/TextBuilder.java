// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Joins texts in native memory, which may be longer than any array. For one thread. */
final class TextBuilder {
    private final Arena arena;
    private MemorySegment memory;
    private long length;

    /** Joins texts in memory of {@code arena}, of {@code byteSize} bytes or, where that is too little, more. */
    TextBuilder(Arena arena, long byteSize) {
        this.arena = arena;
        memory = arena.allocate(byteSize);
    }

    /** Adds a text, of which each character becomes one byte. */
    TextBuilder add(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        if (bytes.length > memory.byteSize() - length) {
            MemorySegment larger = arena.allocate(2 * (memory.byteSize() + bytes.length));
            MemorySegment.copy(memory, 0, larger, 0, length);
            memory = larger;
        }
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, length, bytes.length);
        length += bytes.length;
        return this;
    }

    /** All of it, with a zero byte behind it. */
    MemorySegment ended() {
        add("\0");
        return memory.asSlice(0, length);
    }
}
