// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Whose bytes an {@link IncomingBuffer} is for, when senders share the memory of a {@link BufferPool}, and whose request
 * an inference is. Senders are the same when their identities are equal. Immutable.
 *
 * @param identity an address, or an object of the connection's own
 */
public record Sender(Object identity) {
    /** Whoever needs no connection: an application that embeds the server, or a model that asks another. */
    public static final Sender THIS_PROCESS = new Sender("this process");

    /**
     * The sender at the other end of a connection: all connections from one {@link #network} are one sender. Each
     * connection from this machine is a sender of its own.
     */
    public static Sender at(SocketAddress remote) {
        return new Sender(network(remote).orElseGet(Object::new));
    }

    /**
     * What tells a client from others: its IPv4 address, or the first 64 bits of its IPv6 address, since a client mostly
     * has all of that network. Empty for a loopback address and a Unix socket, which tell nothing of who is behind them.
     */
    public static Optional<Object> network(SocketAddress remote) {
        if (remote instanceof InetSocketAddress inet
                && inet.getAddress() != null
                && !inet.getAddress().isLoopbackAddress()) {
            return Optional.of(network(inet.getAddress()));
        }
        return Optional.empty();
    }

    /** The same of an IP address, also of a loopback address. */
    public static Object network(InetAddress ip) {
        return ip instanceof Inet6Address
                ? (Object) ByteBuffer.wrap(ip.getAddress()).getLong()
                : ip;
    }
}
