// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** TLS over a TCP connection, by Java's own, which wants everything on the heap. */
final class TlsWire implements Wire {
    /** As much as a record of TLS holds. */
    private static final int PIECE_BYTES = 16 << 10;

    private final InputStream in;
    private final OutputStream out;
    private final byte[] read = new byte[PIECE_BYTES];
    private final byte[] written = new byte[PIECE_BYTES];

    private TlsWire(SSLSocket socket) throws IOException {
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
    }

    /** Shakes hands over a connected channel, and makes sure that the server is {@code host}. */
    static TlsWire over(SocketChannel channel, SSLContext context, String host, int port) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(channel.socket(), host, port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return new TlsWire(socket);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int count = in.read(read, 0, Math.min(read.length, into.remaining()));
        if (count > 0) {
            into.put(read, 0, count);
        }
        return count;
    }

    @Override
    public void write(ByteBuffer[] buffers, int count) throws IOException {
        int filled = 0;
        for (int i = 0; i < count; i++) {
            ByteBuffer buffer = buffers[i];
            while (buffer.hasRemaining()) {
                int piece = Math.min(buffer.remaining(), written.length - filled);
                buffer.get(written, filled, piece);
                filled += piece;
                if (filled == written.length) {
                    out.write(written, 0, filled);
                    filled = 0;
                }
            }
        }
        out.write(written, 0, filled);
        out.flush();
    }
}
