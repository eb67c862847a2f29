// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.connection.KeepaliveSettings;
import gatun.grpc.connection.KeepaliveSettings.Age;
import gatun.grpc.connection.KeepaliveSettings.ClientPings;
import gatun.grpc.connection.KeepaliveSettings.Pings;
import java.time.Duration;
import java.util.Optional;

/** How gRPC's connections are kept alive, and when they end. Read once. */
final class GrpcKeepaliveFlags extends FlagGroup {
    private final KeepaliveSettings standard;
    private final Flag<Duration> time;
    private final Flag<Duration> timeout;
    private final Flag<Boolean> withoutCalls;
    private final Flag<Integer> pingsWithoutData;
    private final Flag<Duration> leastPingInterval;
    private final Flag<Integer> pingStrikes;
    private final Flag<Duration> age;
    private final Flag<Duration> ageGrace;

    GrpcKeepaliveFlags(KeepaliveSettings standard) {
        this.standard = standard;
        time = flag(
                "--grpc-keepalive-time",
                "MS",
                FlagType.MILLISECONDS,
                standard.pings().time(),
                "After so long without a sign of a client it is asked whether it is there.");
        timeout = flag(
                "--grpc-keepalive-timeout",
                "MS",
                FlagType.MILLISECONDS,
                standard.pings().timeout(),
                "How long its answer may take; then the connection ends.");
        withoutCalls = yesOrNo(
                "--grpc-keepalive-permit-without-calls",
                standard.withoutCalls(),
                "Whether both sides may ask while no call runs.");
        pingsWithoutData = flag(
                "--grpc-http2-max-pings-without-data",
                "N",
                FlagType.COUNT_OR_ANY,
                standard.pings().withoutData(),
                "How often the server asks while it has nothing else to send, 0 for any number.");
        leastPingInterval = flag(
                "--grpc-http2-min-recv-ping-interval-without-data",
                "MS",
                FlagType.MILLISECONDS_OR_NONE,
                standard.clientPings().leastInterval(),
                "How long a client must wait before it asks again while nothing is sent to it.");
        pingStrikes = flag(
                "--grpc-http2-max-ping-strikes",
                "N",
                FlagType.COUNT_OR_ANY,
                standard.clientPings().strikes(),
                "How often it may ask too early before its connection ends, 0 for any number.");
        age = flag(
                "--grpc-max-connection-age",
                "MS",
                FlagType.MILLISECONDS_OR_NONE,
                standard.age().most().orElse(Duration.ZERO),
                "How old a connection may become, a tenth more or less, 0 for any age.");
        ageGrace = flag(
                "--grpc-max-connection-age-grace",
                "MS",
                FlagType.MILLISECONDS_OR_NONE,
                standard.age().grace().orElse(Duration.ZERO),
                "How long its calls may take then, 0 for any time.");
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
