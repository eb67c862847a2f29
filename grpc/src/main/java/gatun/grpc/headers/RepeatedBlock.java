// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The header block that came last, if it leaves the tables of HPACK (RFC 7541) as they are: no field that enters the
 * dynamic table, and no new size of it. The same bytes then mean the same as long as no other block comes between; many
 * clients open all calls but the first with them. Used by the reading thread only.
 */
final class RepeatedBlock {
    /** Longer ones are rare. */
    private static final int MOST_BYTES = 256;

    // Bits of the first byte of a field, from section 6.
    private static final int REFERENCE = 0x80;
    private static final int ENTERS_TABLE = 0x40;
    private static final int NEW_SIZE = 0x20;

    private final byte[] bytes = new byte[MOST_BYTES];
    private int size;
    private Optional<RequestHead> head = Optional.empty();

    /** The remembered head, if {@code block} opens the same call: the very object. Consumes the block then. */
    Optional<RequestHead> read(ByteBuffer block) {
        if (head.isEmpty() || block.remaining() != size) {
            return Optional.empty();
        }
        int begin = block.position();
        for (int i = 0; i < size; i++) {
            if (block.get(begin + i) != bytes[i]) {
                return Optional.empty();
            }
        }
        block.position(block.limit());
        return head;
    }

    /** Takes note of the bytes of a block that is about to be decoded, which may change the tables. */
    void note(ByteBuffer block) {
        head = Optional.empty();
        size = 0;
        if (block.remaining() <= MOST_BYTES && leavesTables(block.duplicate())) {
            size = block.remaining();
            block.get(block.position(), bytes, 0, size);
        }
    }

    private static boolean leavesTables(ByteBuffer in) {
        while (in.hasRemaining()) {
            int first = in.get(in.position());
            if ((first & REFERENCE) != 0) {
                HpackStrings.integer(in, 7);
                continue;
            }
            if ((first & (ENTERS_TABLE | NEW_SIZE)) != 0) {
                return false;
            }
            if (HpackStrings.integer(in, 4) == 0) {
                HpackStrings.skip(in);
            }
            HpackStrings.skip(in);
        }
        return true;
    }

    /** Notes the decoded form of the noted block. */
    void decoded(RequestHead decoded) {
        if (size > 0) {
            head = Optional.of(decoded);
        }
    }
}
