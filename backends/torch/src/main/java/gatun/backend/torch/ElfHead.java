// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Optional;

/** The head of a library in the format ELF, 64 bits and little endian; see elf(5). */
final class ElfHead {
    private static final int MAGIC = 0x464c457f;
    private static final int HEAD_BYTES = 64;
    private static final int MACHINE_OFFSET = 18;
    private static final int SEGMENTS_OFFSET = 32;
    private static final int SEGMENT_SIZE_OFFSET = 54;
    private static final int SEGMENT_COUNT_OFFSET = 56;
    private static final int STACK_SEGMENT = 0x6474e551;
    private static final int FLAGS_OFFSET = 4;
    private static final int EXECUTABLE = 1;

    private static final Map<Integer, String> MACHINES =
            Map.of(3, "i386", 62, "x86_64", 183, "aarch64", 243, "riscv64");

    private final ByteBuffer bytes;

    private ElfHead(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The head in {@code bytes}, which this may change; empty when they are of another format. */
    static Optional<ElfHead> of(byte[] bytes) {
        ElfHead head = new ElfHead(bytes);
        return bytes.length >= HEAD_BYTES && head.bytes.getInt(0) == MAGIC ? Optional.of(head) : Optional.empty();
    }

    /** The kind of processor as Linux calls it, such as {@code x86_64}. */
    String machine() {
        int number = Short.toUnsignedInt(bytes.getShort(MACHINE_OFFSET));
        return MACHINES.getOrDefault(number, "another processor (number " + number + ")");
    }

    /**
     * Clears the flag for executable stacks, which AOTInductor's libraries have since the object with their weights
     * does not deny it. The loader would make all threads' stacks executable, the JVM's guard pages included; newer
     * loaders refuse it.
     */
    void keepStacks() {
        long at = bytes.getLong(SEGMENTS_OFFSET);
        int size = Short.toUnsignedInt(bytes.getShort(SEGMENT_SIZE_OFFSET));
        int count = Short.toUnsignedInt(bytes.getShort(SEGMENT_COUNT_OFFSET));
        for (int i = 0; i < count; i++, at += size) {
            if (at < 0 || at > bytes.capacity() - 2L * FLAGS_OFFSET) {
                return; // Damaged, or no library of a usual linker: the loader will tell.
            }
            if (bytes.getInt((int) at) == STACK_SEGMENT) {
                int flags = (int) at + FLAGS_OFFSET;
                bytes.putInt(flags, bytes.getInt(flags) & ~EXECUTABLE);
            }
        }
    }
}
