// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.connection.KeepaliveSettings;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How gRPC's connections are kept alive, and when they end. Filled by picocli, read once. */
final class GrpcKeepaliveFlags {
    @Option(
            names = "--grpc-keepalive-time",
            paramLabel = "MS",
            defaultValue = "7200000",
            converter = FlagValues.Milliseconds.class,
            description = "After so long without a sign of a client it is asked whether it is there.")
    int time;

    @Option(
            names = "--grpc-keepalive-timeout",
            paramLabel = "MS",
            defaultValue = "20000",
            converter = FlagValues.Milliseconds.class,
            description = "How long its answer may take; then the connection ends.")
    int timeout;

    @Option(
            names = "--grpc-keepalive-permit-without-calls",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether both sides may ask while no call runs.")
    boolean withoutCalls;

    @Option(
            names = "--grpc-http2-max-pings-without-data",
            paramLabel = "N",
            defaultValue = "2",
            converter = FlagValues.CountOrAny.class,
            description = "How often the server asks while it has nothing else to send, 0 for any number.")
    int pingsWithoutData;

    @Option(
            names = "--grpc-http2-min-recv-ping-interval-without-data",
            paramLabel = "MS",
            defaultValue = "300000",
            converter = FlagValues.MillisecondsOrNone.class,
            description = "How long a client must wait before it asks again while nothing is sent to it.")
    int leastPingInterval;

    @Option(
            names = "--grpc-http2-max-ping-strikes",
            paramLabel = "N",
            defaultValue = "2",
            converter = FlagValues.CountOrAny.class,
            description = "How often it may ask too early before its connection ends, 0 for any number.")
    int pingStrikes;

    @Option(
            names = "--grpc-max-connection-age",
            paramLabel = "MS",
            defaultValue = "0",
            converter = FlagValues.MillisecondsOrNone.class,
            description = "How old a connection may become, a tenth more or less, 0 for any age.")
    int age;

    @Option(
            names = "--grpc-max-connection-age-grace",
            paramLabel = "MS",
            defaultValue = "0",
            converter = FlagValues.MillisecondsOrNone.class,
            description = "How long its calls may take then, 0 for any time.")
    int ageGrace;

    KeepaliveSettings settings() {
        return new KeepaliveSettings(
                Duration.ofMillis(time),
                Duration.ofMillis(timeout),
                withoutCalls,
                Duration.ofMillis(leastPingInterval),
                pingStrikes,
                pingsWithoutData,
                unlessZero(age),
                unlessZero(ageGrace),
                KeepaliveSettings.standard().patience());
    }

    private static Optional<Duration> unlessZero(int millis) {
        return millis == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(millis));
    }
}
