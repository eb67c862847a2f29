// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import gatun.fuzz.FuzzInput;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Raw BYTES tensors: the first byte is the expected number of elements. A complete tensor equals the one that its
 * elements encode to.
 */
public final class BytesTensorFuzz {
    private BytesTensorFuzz() {}

    /** Reads the input as a tensor. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        FuzzInput.run(input, () -> read(input[0] & 0xff, java.util.Arrays.copyOfRange(input, 1, input.length)));
    }

    private static void read(int expected, byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment raw = FuzzInput.inMemory(arena, bytes);
            boolean complete = BytesCodec.check(raw, expected) == BytesCodec.Check.Complete.COMPLETE;
            List<byte[]> elements = new ArrayList<>();
            List<String> texts = new ArrayList<>();
            try {
                BytesCodec.forEach(raw, (offset, byteSize) -> {
                    elements.add(raw.asSlice(offset, byteSize).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
                    texts.add(BytesCodec.text(raw, offset, byteSize));
                });
            } catch (GatunException e) {
                FuzzInput.require(!complete, "elements of a complete tensor are cut off");
                return;
            }
            FuzzInput.require(complete == (elements.size() == expected), "elements are counted");
            FuzzInput.requireEqual(BytesCodec.encodedByteSize(elements), raw.byteSize(), "the size of the elements");
            MemorySegment again = arena.allocate(raw.byteSize() + 1).asSlice(0, raw.byteSize());
            BytesCodec.encode(elements, again);
            FuzzInput.require(raw.mismatch(again) == -1, "elements are written as they were read");
            MemorySegment text = arena.allocate(BytesCodec.encodedTextByteSize(texts) + 1);
            BytesCodec.encodeText(texts, text);
        }
    }
}
