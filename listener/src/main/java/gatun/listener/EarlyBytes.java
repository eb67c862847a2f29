// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.buffers.DataReader;

/** Bytes that a listener read from a connection before it knew who handles it. */
public final class EarlyBytes {
    private EarlyBytes() {}

    /** Takes the bytes that the listener's {@code reader} holds; does not block. For the connection's thread. */
    public static byte[] take(DataReader reader) {
        int available = reader.available();
        // Asking for no bytes would wait for some.
        return available == 0 ? new byte[0] : reader.readBytes(available);
    }
}
