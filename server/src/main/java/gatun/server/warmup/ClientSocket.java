// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A client's side of a connection, read through a buffer. For one thread; {@link #close} for any. */
final class ClientSocket implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;

    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES).limit(0);

    private ClientSocket(SocketChannel channel) {
        this.channel = channel;
    }

    static ClientSocket connect(SocketAddress address) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(address);
            return new ClientSocket(channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** The next byte, from 0 to 255. */
    int read() throws IOException {
        if (!in.hasRemaining()) {
            fill();
        }
        return Byte.toUnsignedInt(in.get());
    }

    /** The next {@code bytes} bytes, at most four, in big endian. */
    int read(int bytes) throws IOException {
        int value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << Byte.SIZE | read();
        }
        return value;
    }

    void skip(long bytes) throws IOException {
        for (long left = bytes; left > 0; ) {
            if (!in.hasRemaining()) {
                fill();
            }
            int now = (int) Math.min(left, in.remaining());
            in.position(in.position() + now);
            left -= now;
        }
    }

    private void fill() throws IOException {
        int count = channel.read(in.clear());
        in.flip();
        if (count < 0) {
            throw new EOFException("the server ended the connection");
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
