// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Bytes to a server and back, for one thread. Ends with its channel, which others own. */
sealed interface Wire permits SocketWire, TlsWire {
    /** Reads the available bytes, and waits for at least one. Returns how many bytes; -1 at the end. */
    int read(ByteBuffer into) throws IOException;

    /** Writes all of the first {@code count} buffers. */
    void write(ByteBuffer[] buffers, int count) throws IOException;
}
