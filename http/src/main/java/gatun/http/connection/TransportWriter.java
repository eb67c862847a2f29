// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.Transport;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** Writes Helidon's responses to a transport that is not its own, at once. For the connection's thread. */
final class TransportWriter implements DataWriter {
    private final Transport transport;

    TransportWriter(Transport transport) {
        this.transport = transport;
    }

    @Override
    public void write(BufferData... buffers) {
        writeNow(buffers);
    }

    @Override
    public void write(BufferData buffer) {
        writeNow(buffer);
    }

    @Override
    public void writeNow(BufferData... buffers) {
        ByteBuffer[] sources = new ByteBuffer[buffers.length];
        for (int i = 0; i < buffers.length; i++) {
            sources[i] = ByteBuffer.wrap(buffers[i].readBytes());
        }
        try {
            transport.write(sources, sources.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void writeNow(BufferData buffer) {
        writeNow(new BufferData[] {buffer});
    }
}
