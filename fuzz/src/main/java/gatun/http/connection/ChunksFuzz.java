// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** The lines among the chunks of a body: sizes up to the last chunk, then trailers. Each line of the input is one. */
public final class ChunksFuzz {
    private static final Pattern SIZE = Pattern.compile("[0-9a-fA-F]{1,8}(;[\\t\\x20-\\x7e\\x80-\\xff]*)?");
    private static final Pattern TRAILER = Pattern.compile("[-!#$%&'*+.^_`|~0-9a-zA-Z]+:[\\t\\x20-\\x7e\\x80-\\xff]*");

    private ChunksFuzz() {}

    /** Reads the input. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            try {
                read(new String(input, StandardCharsets.ISO_8859_1).split("\n", -1));
            } catch (GatunException e) {
                FuzzInput.require(!e.getMessage().isEmpty(), "a refusal says why");
            }
        });
    }

    private static void read(String[] lines) {
        ChunkSyntax syntax = new ChunkSyntax();
        boolean last = false;
        for (String line : lines) {
            if (last) {
                syntax.trailer(line);
                FuzzInput.require(TRAILER.matcher(line).matches(), "not a trailer: " + line);
            } else {
                int byteSize = syntax.byteSize(line);
                FuzzInput.require(SIZE.matcher(line).matches(), "not a chunk's size: " + line);
                FuzzInput.requireEqual(byteSize, Integer.parseInt(line.split(";", 2)[0], 16), "the size of a chunk");
                last = byteSize == 0;
            }
        }
    }
}
