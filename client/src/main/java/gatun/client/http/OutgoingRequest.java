// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A request as it goes over a connection, any number of times. */
interface OutgoingRequest {
    String what();

    boolean isRepeatable();

    /** Writes all bytes. Throws {@link IllegalStateException} when memory that it borrows was freed. */
    void writeTo(RequestWriter writer) throws IOException;

    /** A request whose bytes are known. Its body's pieces are borrowed. */
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
