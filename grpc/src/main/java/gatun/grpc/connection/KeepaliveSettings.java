// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import java.time.Duration;
import java.util.Optional;

/**
 * How connections are kept alive, and when they end though nobody asked for it.
 *
 * @param time after so long without a frame of the client it is asked, by a PING, whether it is still there
 * @param timeout how long it may take to answer; then the connection ends
 * @param withoutCalls whether both sides may send such PINGs while no call runs
 * @param leastPingInterval how long a client must wait between two PINGs while we send it nothing
 * @param pingStrikes how many PINGs may come too early before the connection ends; 0 for any number
 * @param pingsWithoutData how many PINGs we send while we have nothing else to send; 0 for any number
 * @param age how old a connection may become, a tenth more or less; then running calls end and new ones go elsewhere
 * @param ageGrace how long running calls may take then; empty for any time
 * @param patience how long a client may take to greet, a TLS handshake included, and to send a header block that it
 *     began
 */
public record KeepaliveSettings(
        Duration time,
        Duration timeout,
        boolean withoutCalls,
        Duration leastPingInterval,
        int pingStrikes,
        int pingsWithoutData,
        Optional<Duration> age,
        Optional<Duration> ageGrace,
        Duration patience) {
    /**
     * PINGs after two hours with 20 s to answer, clients' at most every five minutes with two strikes, any age:
     * Triton's.
     */
    public static KeepaliveSettings standard() {
        return new KeepaliveSettings(
                Duration.ofHours(2),
                Duration.ofSeconds(20),
                false,
                Duration.ofMinutes(5),
                2,
                2,
                Optional.empty(),
                Optional.empty(),
                Duration.ofSeconds(20));
    }
}
