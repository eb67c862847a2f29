// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.ConnectionLimits;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The limits of connections. Filled by picocli, read once. */
final class ConnectionFlags {
    @Option(
            names = "--max-connections",
            paramLabel = "N",
            defaultValue = "16384",
            converter = FlagValues.Limit.class,
            description = "The most connections that clients may have open at a time, to all ports and sockets but the"
                    + " metrics' together. Others are refused: over HTTP with 503, over gRPC with GOAWAY, over TLS they"
                    + " are closed.")
    int most;

    @Option(
            names = "--max-connections-per-address",
            paramLabel = "N",
            defaultValue = "12288",
            converter = FlagValues.CountOrAny.class,
            description =
                    "The most of these connections from one IPv4 address, or from one IPv6 network of 64 bits; 0 for"
                            + " any number.")
    int mostPerAddress;

    @Option(
            names = "--tls-handshake-timeout-secs",
            paramLabel = "SECONDS",
            defaultValue = "10",
            converter = FlagValues.Interval.class,
            description = "How long a client may take for its TLS handshake before its connection is closed.")
    int handshakeSeconds;

    ConnectionLimits settings() {
        return new ConnectionLimits(most, mostPerAddress, Duration.ofSeconds(handshakeSeconds));
    }
}
