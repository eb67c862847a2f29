// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The server under attack.
 *
 * @param http its HTTP listener
 * @param grpc its gRPC listener
 */
public record Target(InetSocketAddress http, InetSocketAddress grpc) {
    /** A server on ports of the loopback address. */
    public static Target local(int httpPort, int grpcPort) {
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        return new Target(new InetSocketAddress(loopback, httpPort), new InetSocketAddress(loopback, grpcPort));
    }
}
