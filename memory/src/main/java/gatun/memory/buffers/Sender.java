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

    /** A connection's sender: one for each {@link #network}, and one for each connection from this machine. */
    public static Sender at(SocketAddress remote) {
        return new Sender(network(remote).orElseGet(Object::new));
    }

    /** A client's network: its IPv4 address, or 64 bits of IPv6; empty for loopback and Unix sockets. */
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
