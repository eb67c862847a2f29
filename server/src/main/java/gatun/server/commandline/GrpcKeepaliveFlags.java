// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.connection.KeepaliveSettings;
import gatun.grpc.connection.KeepaliveSettings.Age;
import gatun.grpc.connection.KeepaliveSettings.ClientPings;
import gatun.grpc.connection.KeepaliveSettings.Pings;
import java.time.Duration;
import java.util.Optional;

/** How gRPC's connections are kept alive, and when they end. Read once. */
final class GrpcKeepaliveFlags extends OverlayFlags<KeepaliveSettings> {
    private final Flag<Duration> time = flag(
            "--grpc-keepalive-time",
            FlagType.MILLISECONDS,
            standard.pings().time(),
            "After so long without a sign of a client it is asked whether it is there.");
    private final Flag<Duration> timeout = flag(
            "--grpc-keepalive-timeout",
            FlagType.MILLISECONDS,
            standard.pings().timeout(),
            "How long its answer may take; then the connection ends.");
    private final Flag<Boolean> withoutCalls = yesOrNo(
            "--grpc-keepalive-permit-without-calls",
            standard.withoutCalls(),
            "Whether both sides may ask while no call runs.");
    private final Flag<Integer> pingsWithoutData = flag(
            "--grpc-http2-max-pings-without-data",
            FlagType.COUNT_OR_ANY,
            standard.pings().withoutData(),
            "How often the server asks while it has nothing else to send, 0 for any number.");
    private final Flag<Duration> leastPingInterval = flag(
            "--grpc-http2-min-recv-ping-interval-without-data",
            FlagType.MILLISECONDS_OR_NONE,
            standard.clientPings().leastInterval(),
            "How long a client must wait before it asks again while nothing is sent to it.");
    private final Flag<Integer> pingStrikes = flag(
            "--grpc-http2-max-ping-strikes",
            FlagType.COUNT_OR_ANY,
            standard.clientPings().strikes(),
            "How often it may ask too early before its connection ends, 0 for any number.");
    private final Flag<Duration> age = flag(
            "--grpc-max-connection-age",
            FlagType.MILLISECONDS_OR_NONE,
            standard.age().most().orElse(Duration.ZERO),
            "How old a connection may become, a tenth more or less, 0 for any age.");
    private final Flag<Duration> ageGrace = flag(
            "--grpc-max-connection-age-grace",
            FlagType.MILLISECONDS_OR_NONE,
            standard.age().grace().orElse(Duration.ZERO),
            "How long its calls may take then, 0 for any time.");

    GrpcKeepaliveFlags(KeepaliveSettings standard) {
        super(standard);
    }

    KeepaliveSettings settings() {
        return new KeepaliveSettings(
                new Pings(time.value(), timeout.value(), pingsWithoutData.value()),
                new ClientPings(leastPingInterval.value(), pingStrikes.value()),
                withoutCalls.value(),
                new Age(unlessZero(age), unlessZero(ageGrace)),
                standard.patience());
    }

    private static Optional<Duration> unlessZero(Flag<Duration> flag) {
        return Optional.of(flag.value()).filter(Duration::isPositive);
    }
}
