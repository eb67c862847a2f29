// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.listener.TransferredBytes;
import gatun.listener.Transport;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listener's reader and writer, for connections without a channel of ours. Costs one more copy. */
final class HelidonTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(HelidonTransport.class);

    /** The most bytes that are copied at a time. */
    private static final int CHUNK = 16 * 1024;

    private final DataReader reader;
    private final DataWriter writer;
    private final HelidonSocket socket;
    private final TransferredBytes transferred = new TransferredBytes();

    HelidonTransport(DataReader reader, DataWriter writer, HelidonSocket socket) {
        this.reader = reader;
        this.writer = writer;
        this.socket = socket;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        try {
            if (reader.available() == 0) {
                reader.ensureAvailable();
            }
            byte[] bytes = reader.readBytes(Math.min(reader.available(), target.remaining()));
            target.put(bytes);
            transferred.came(bytes.length);
            return bytes.length;
        } catch (DataReader.InsufficientDataAvailableException e) {
            return -1;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (RuntimeException e) {
            throw new IOException("the connection failed", e);
        }
    }

    @Override
    public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
        try {
            for (int i = first; i < end; i++) {
                while (sources[i].hasRemaining()) {
                    byte[] bytes = new byte[Math.min(CHUNK, sources[i].remaining())];
                    sources[i].get(bytes);
                    writer.writeNow(BufferData.create(bytes));
                    transferred.sent(bytes.length);
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (RuntimeException e) {
            throw new IOException("the connection failed", e);
        }
    }

    /** Without the bytes of TLS, of which the listener tells nothing. */
    @Override
    public TransferredBytes transferred() {
        return transferred;
    }

    @Override
    public void shutdownOutput() {
        // A TLS socket has no half-close that every client understands: the end of the connection is the signal.
        close();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (RuntimeException e) {
            LOG.trace("the connection was already closed", e);
        }
    }
}
