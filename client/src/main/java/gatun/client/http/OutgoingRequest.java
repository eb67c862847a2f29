// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;

/** A request as it goes over a connection, any number of times. */
interface OutgoingRequest {
    /** Method and path, for texts. */
    String what();

    /** Whether the server may do it twice. */
    boolean isRepeatable();

    /**
     * Hands all bytes over, from the request line on.
     *
     * @throws IllegalStateException when memory that it borrows was freed
     */
    void writeTo(RequestWriter writer) throws IOException;
}
