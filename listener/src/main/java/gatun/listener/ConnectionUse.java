// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * A connection that is open, for people to read.
 *
 * @param peer the client's address; {@code unix} for one over a Unix domain socket
 * @param tls whether TLS is spoken on it
 * @param sinceMillis when it came, in milliseconds since 1970
 * @param requests how many requests have come over it
 * @param inFlight how many of them are not answered yet
 * @param bytesIn how many bytes have come over it, those of TLS included
 * @param bytesOut how many bytes were sent over it, those of TLS included
 */
public record ConnectionUse(
        String peer, boolean tls, long sinceMillis, long requests, int inFlight, long bytesIn, long bytesOut) {
    /** The address of a client, as {@link #peer} tells it. */
    public static String peer(SocketAddress address) {
        return address instanceof InetSocketAddress tcp && tcp.getAddress() != null
                ? tcp.getAddress().getHostAddress() + ":" + tcp.getPort()
                : "unix";
    }
}
