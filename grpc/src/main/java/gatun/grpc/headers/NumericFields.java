// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Checks, before a header block is decoded, the fields that have to be numbers: Jetty's decoder uses the text of a
 * field that is no number as a format, and {@code %999999999d} would fill the heap. Sees all blocks of a connection, in
 * order. For one thread.
 */
final class NumericFields {
    // Where HPACK's static table has the names.
    private static final int FIRST_STATUS = 8;
    private static final int LAST_STATUS = 14;
    private static final int CONTENT_LENGTH = 28;
    private static final int LAST_STATIC = 61;

    /** Numbers of so many digits fit into a long. */
    private static final int MOST_DIGITS = 18;

    private final HpackStrings strings = new HpackStrings();

    /** Whether the client's table may hold one of the names. */
    private boolean indexed;

    /** Checks a block. Throws {@link ConnectionError} for a numeric field without a number, or a format. */
    void require(ByteBuffer block) {
        ByteBuffer in = block.duplicate();
        while (in.hasRemaining()) {
            int first = in.get(in.position());
            if (first < 0) {
                HpackStrings.integer(in, 7);
            } else if ((first & 0xe0) == 0x20) {
                HpackStrings.integer(in, 5);
            } else {
                boolean indexing = (first & 0x40) != 0;
                requireField(in, HpackStrings.integer(in, indexing ? 6 : 4), indexing);
            }
        }
    }

    private void requireField(ByteBuffer in, int nameIndex, boolean indexing) {
        boolean numeric = nameIndex == 0 ? isNumeric(in) : isNumeric(nameIndex);
        indexed |= numeric && indexing;
        if (!numeric && !(indexed && nameIndex > LAST_STATIC)) {
            HpackStrings.skip(in);
            return;
        }
        Optional<String> value = strings.read(in);
        if (value.isEmpty()) {
            return; // malformed, as the decoder will find
        }
        String text = value.get();
        boolean number =
                !text.isEmpty() && text.length() <= MOST_DIGITS && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!number && (numeric || text.indexOf('%') >= 0)) {
            throw new ConnectionError(
                    Http2Error.PROTOCOL_ERROR, "a header of a number has another value: expected digits only");
        }
    }

    private static boolean isNumeric(int nameIndex) {
        return nameIndex == CONTENT_LENGTH || (nameIndex >= FIRST_STATUS && nameIndex <= LAST_STATUS);
    }

    private boolean isNumeric(ByteBuffer in) {
        String name = strings.read(in).orElse("");
        return name.equalsIgnoreCase("content-length") || name.equalsIgnoreCase(":status");
    }
}
