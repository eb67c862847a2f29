// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.fuzz.FuzzInput;
import gatun.http.json.Base64Text;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Base64;
import java.util.HexFormat;

/** Base64 of strings in JSON, decoded in place: the same bytes as the JDK's decoder finds, or refused by both. */
public final class Base64Fuzz {
    private Base64Fuzz() {}

    /** Decodes the input. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> decode(input));
    }

    private static void decode(byte[] input) {
        String ours;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = FuzzInput.inMemory(arena, input);
            long size = Base64Text.decodeLenient(text, 0, input.length);
            ours = size < 0
                    ? "refused"
                    : HexFormat.of().formatHex(text.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE));
        }
        String theirs;
        try {
            theirs = HexFormat.of().formatHex(Base64.getDecoder().decode(input));
        } catch (IllegalArgumentException e) {
            theirs = "refused";
        }
        FuzzInput.requireEqual(ours, theirs, new String(input, java.nio.charset.StandardCharsets.ISO_8859_1));
    }
}
