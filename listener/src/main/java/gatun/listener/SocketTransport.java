// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of a connection whose socket is ours to look at. */
public interface SocketTransport extends Transport {
    /**
     * Reads what is there into {@code target}, which has room, without waiting; 0 when nothing is there now, -1 when
     * the client will send no more. As {@link #read} for one thread at a time, and never while another thread writes.
     *
     * @throws IOException when the connection fails or is closed
     */
    int readNow(ByteBuffer target) throws IOException;

    /**
     * Lets no more be read and wakes whoever reads, who finds the end of what the client sends. Never throws; any
     * thread.
     */
    void shutdownInput();
}
