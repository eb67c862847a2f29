// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.fuzz.FuzzInput;
import gatun.wire.v1.InferRequestHeader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The header of a v1 inference over HTTP, which is protobuf's text format: a header that was read, written and read
 * again is the same.
 */
public final class V1HeaderFuzz {
    private V1HeaderFuzz() {}

    /** Reads the input as the header's value. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            Optional<InferRequestHeader> header = MessageText.parse(new String(input, StandardCharsets.ISO_8859_1));
            header.ifPresent(
                    read -> FuzzInput.requireEqual(MessageText.parse(MessageText.line(read)), header, "written again"));
        });
    }
}
