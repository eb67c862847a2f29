// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A TCP connection, or one of a Unix socket. */
final class SocketWire implements Wire {
    private final SocketChannel channel;

    SocketWire(SocketChannel channel) {
        this.channel = channel;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return channel.read(into);
    }

    @Override
    public void write(ByteBuffer[] buffers, int count) throws IOException {
        ByteBuffer last = buffers[count - 1];
        while (last.hasRemaining()) {
            if (count == 1) {
                channel.write(last);
            } else {
                channel.write(buffers, 0, count);
            }
        }
    }
}
