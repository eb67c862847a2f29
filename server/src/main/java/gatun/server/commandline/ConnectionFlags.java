// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import java.time.Duration;

/** How many connections there may be. Read once. */
final class ConnectionFlags extends OverlayFlags<ConnectionLimits> {
    private final Flag<Integer> most = flag(
            "--max-connections",
            FlagType.LIMIT,
            standard.most(),
            "The most connections that clients may have open at a time, to all ports and sockets but the"
                    + " metrics' together. Others are refused: over HTTP with 503, over gRPC with GOAWAY, over TLS"
                    + " they are closed.");
    private final Flag<Integer> mostPerAddress = flag(
            "--max-connections-per-address",
            FlagType.COUNT_OR_ANY,
            standard.mostPerAddress(),
            "The most of these connections from one IPv4 address, or from one IPv6 network of 64 bits; 0 for"
                    + " any number.");
    private final Flag<Duration> handshakeLimit = flag(
            "--tls-handshake-timeout-secs",
            FlagType.INTERVAL,
            standard.handshakeLimit(),
            "How long a client may take for its TLS handshake before its connection is closed.");

    ConnectionFlags(ConnectionLimits standard) {
        super(standard);
    }

    ConnectionLimits settings() {
        return new ConnectionLimits(most.value(), mostPerAddress.value(), handshakeLimit.value());
    }
}
