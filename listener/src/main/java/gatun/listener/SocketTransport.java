// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of a connection whose socket can also be read without waiting. */
public interface SocketTransport extends Transport {
    /**
     * Reads the bytes that are there into {@code target}, which has room, without waiting; 0 when none are there now,
     * -1 when the client will send no more. As for {@link #read}, by one thread at a time, and never while another
     * thread writes.
     *
     * @throws IOException when the connection fails or is closed
     */
    int readNow(ByteBuffer target) throws IOException;

    /** Stops all reading and wakes the reader, which finds the end of the client's bytes. Never throws; any thread. */
    void shutdownInput();
}
