// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.net.InetSocketAddress;
import java.net.SocketAddress;

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
     * The sender at the other end of a connection: all connections from one address are one sender. A loopback address
     * and a Unix socket tell nothing of who is behind them, so that each of their connections is a sender of its own.
     */
    public static Sender at(SocketAddress remote) {
        return remote instanceof InetSocketAddress inet
                        && inet.getAddress() != null
                        && !inet.getAddress().isLoopbackAddress()
                ? new Sender(inet.getAddress())
                : new Sender(new Object());
    }
}
