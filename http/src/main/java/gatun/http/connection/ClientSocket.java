// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.ChannelTransport;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.ServerTls;
import gatun.listener.TlsTransport;
import gatun.listener.Transport;
import gatun.listener.Transport.EarlyBytes;
import gatun.listener.Transport.SocketTransport;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A client's socket, perhaps with TLS, for bodies, tensors and Helidon. For one thread; {@link #close} for any. */
final class ClientSocket {
    private static final byte[] NOTHING_EARLY = {};
    private static final int DISCARDED_AT_ONCE = 64 * 1024;

    private final SocketChannel channel;
    private final SocketTransport transport;
    private final Supplier<byte[]> reader;
    private final DataWriter writer;
    private final boolean secure;

    private volatile boolean opened;

    private ClientSocket(SocketChannel channel, SocketTransport transport, boolean secure) {
        this.channel = channel;
        this.transport = transport;
        this.reader = new TransportReader(transport);
        this.writer = new TransportWriter(transport);
        this.secure = secure;
        this.opened = !secure;
    }

    /** A socket on which HTTP is spoken as it is. */
    static ClientSocket plain(SocketChannel channel) {
        return new ClientSocket(channel, new ChannelTransport(channel, NOTHING_EARLY), false);
    }

    static ClientSocket secured(ConnectionContext context, SocketChannel channel, ServerTls tls, String protocol) {
        TlsTransport transport = tls.transport(channel, EarlyBytes.take(context.dataReader()), protocol);
        return new ClientSocket(channel, transport, true);
    }

    /** Does the handshake, if any, before all else. Throws {@link CloseConnectionException} when it fails. */
    void open() {
        try {
            transport.open();
            opened = true;
        } catch (IOException e) {
            throw new ClientErrorException(ClientError.TLS, "the TLS handshake failed: " + e.getMessage(), e);
        }
    }

    /** Whether a handshake is done or none is needed. For any thread. */
    boolean opened() {
        return opened;
    }

    boolean secure() {
        return secure;
    }

    SocketTransport transport() {
        return transport;
    }

    /** The bytes that the client sends, in pieces on the heap; null at their end. */
    Supplier<byte[]> reader() {
        return reader;
    }

    DataWriter writer() {
        return writer;
    }

    /** Drops unwanted bytes, below TLS, until none come or about {@code byteLimit} have; nothing can be read then. */
    void discard(long byteLimit) throws IOException {
        ByteBuffer scratch = ByteBuffer.allocate(DISCARDED_AT_ONCE);
        long byteSize = 0;
        while (byteSize < byteLimit) {
            int read = secure ? discardEncrypted(scratch.clear()) : transport.read(scratch.clear());
            if (read < 0) {
                return;
            }
            byteSize += read;
        }
    }

    private int discardEncrypted(ByteBuffer scratch) throws IOException {
        int read = channel.read(scratch);
        transport.transferred().came(read);
        return read;
    }

    /** The last call of the connection's thread: tells the client that TLS ends, and gives back the buffers of TLS. */
    void end() {
        if (secure) {
            if (opened) {
                transport.shutdownOutput();
            }
            transport.release();
        }
    }

    /** Ends the connection and wakes its thread. For any thread. */
    void close() {
        transport.close();
    }

    /** The heads of requests, as Helidon reads them, from another transport. For the connection's thread. */
    static final class TransportReader implements Supplier<byte[]> {
        /** Room for a head and a small body; further bytes are read from the transport straight to their place. */
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

    /** Writes Helidon's responses to a transport that is not its own, at once. For the connection's thread. */
    static final class TransportWriter implements DataWriter {
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
}
