// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The heads of requests, in the form that Helidon reads, from a transport that is not its own. For the connection's
 * thread.
 */
final class TransportReader implements Supplier<byte[]> {
    /**
     * Room for a head and a small body; bytes beyond it stay with the transport, from where bodies are read straight to
     * their place.
     */
    private static final int AT_ONCE = 4 * 1024;

    private final Transport transport;

    TransportReader(Transport transport) {
        this.transport = transport;
    }

    /** The next bytes from the client, at least one; waits for them. Null when nothing more will come. */
    @Override
    public byte @Nullable [] get() {
        ByteBuffer bytes = ByteBuffer.allocate(AT_ONCE); // held by those only that wait for the rest of a head
        try {
            int count = transport.read(bytes);
            return count < 0 ? null : Arrays.copyOf(bytes.array(), count);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
