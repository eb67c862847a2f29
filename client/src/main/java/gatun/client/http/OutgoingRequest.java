// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A request as it goes over a connection, any number of times. */
interface OutgoingRequest {
    String what();

    boolean isRepeatable();

    /**
     * Hands all bytes over, from the request line on.
     *
     * @throws IllegalStateException when memory that it borrows was freed
     */
    void writeTo(RequestWriter writer) throws IOException;

    /**
     * A request whose bytes are all there.
     *
     * @param head from the request line to the empty line
     * @param body its pieces, borrowed
     */
    record PlainRequest(String what, boolean isRepeatable, MemorySegment head, List<MemorySegment> body)
            implements OutgoingRequest {
        @Override
        public void writeTo(RequestWriter writer) throws IOException {
            writer.put(head);
            for (MemorySegment piece : body) {
                writer.put(piece);
            }
        }
    }
}
