// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import java.time.Duration;
import java.util.Optional;

/**
 * How connections are kept alive, and when they end though nobody asked for it.
 *
 * @param pings how the server asks a client whether it is still there
 * @param clientPings how often a client may ask the same
 * @param withoutCalls whether both sides may send such PINGs while no call runs
 * @param age how old a connection may become
 * @param patience how long a client may take to greet, a TLS handshake included, and to send a header block that it
 *     began
 */
public record KeepaliveSettings(
        Pings pings, ClientPings clientPings, boolean withoutCalls, Age age, Duration patience) {
    /**
     * How the server asks a client, by a PING, whether it is still there.
     *
     * @param time after so long without a frame of the client it is asked
     * @param timeout how long it may take to answer; then the connection ends
     * @param withoutData how many PINGs we send while we have nothing else to send; 0 for any number
     */
    public record Pings(Duration time, Duration timeout, int withoutData) {}

    /**
     * How often a client may send PINGs.
     *
     * @param leastInterval how long it must wait between two while we send it nothing
     * @param strikes how many may come too early before the connection ends; 0 for any number
     */
    public record ClientPings(Duration leastInterval, int strikes) {}

    /**
     * How old a connection may become.
     *
     * @param most when running calls end and new ones go elsewhere, a tenth more or less; empty for never
     * @param grace how long running calls may take then; empty for any time
     */
    public record Age(Optional<Duration> most, Optional<Duration> grace) {
        /** Any age. */
        public static final Age ANY = new Age(Optional.empty(), Optional.empty());
    }

    /** Triton's: PINGs after two hours with 20 s to answer; clients' every five minutes, two strikes. */
    public static KeepaliveSettings standard() {
        return new KeepaliveSettings(
                new Pings(Duration.ofHours(2), Duration.ofSeconds(20), 2),
                new ClientPings(Duration.ofMinutes(5), 2),
                false,
                Age.ANY,
                Duration.ofSeconds(20));
    }
}
