// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.buffers.DataReader;

/** What a listener read from a connection before it knew whose that is. */
public final class EarlyBytes {
    private EarlyBytes() {}

    /**
     * Takes the bytes that {@code reader}, the listener's own, holds already; waits for none. The connection's
     * thread's.
     */
    public static byte[] take(DataReader reader) {
        int available = reader.available();
        // Asking for no bytes would wait for some.
        return available == 0 ? new byte[0] : reader.readBytes(available);
    }
}
