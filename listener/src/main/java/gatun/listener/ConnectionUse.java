// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * A connection that is open, for people to read. {@code bytesIn} and {@code bytesOut} include the bytes of TLS.
 *
 * @param peer the client's address; {@code unix} for one over a Unix domain socket
 * @param sinceMillis when it came, in milliseconds since 1970
 * @param inFlight how many of the requests are not answered yet
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
