// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.calls.Deadline;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A connection that is kept for what the server ties to it. Any thread may close it. */
public final class HeldConnection implements AutoCloseable {
    private final SocketChannel channel;

    private HeldConnection(SocketChannel channel) {
        this.channel = channel;
    }

    /** A connection and the result of its first request. */
    record FirstExchange<T>(HeldConnection connection, T result) {}

    /** Connects, and makes one request. Closes the connection when that throws. */
    static <T> FirstExchange<T> open(ClientOptions options, OutgoingRequest request, ResponseReader<T> reader) {
        Deadline deadline = Deadline.of(options.deadline());
        Connector connector = new Connector(options);
        try {
            SocketAddress target = connector.addresses().getFirst();
            WatchedChannel channel = new WatchedChannel(connector.channel());
            boolean opened = false;
            try {
                channel.begin(deadline);
                HttpConnection connection = connector.connect(channel, target);
                connection.exchange(request);
                T result = reader.read(connection);
                opened = true;
                return new FirstExchange<>(new HeldConnection(channel.channel()), result);
            } finally {
                channel.end();
                if (!opened) {
                    channel.close();
                }
            }
        } catch (IOException e) {
            throw HttpExchanges.unreachable(options, e);
        }
    }

    /** Waits until the server ends the connection, or this is closed. */
    public void awaitEnd() {
        ByteBuffer unasked = ByteBuffer.allocate(1);
        try {
            while (channel.read(unasked.clear()) >= 0) {
                // A server says nothing that was not asked for.
            }
        } catch (IOException e) {
            // Ended as well.
            return;
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The connection is given up either way.
            return;
        }
    }
}
