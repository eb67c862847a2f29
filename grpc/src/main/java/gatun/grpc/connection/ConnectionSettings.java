// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.Http2;
import java.time.Duration;
import java.util.Optional;

/**
 * The limits of every connection of one listener.
 *
 * @param maxMessageSize bytes of one request message, decompressed too; a larger one fails its call with
 *     RESOURCE_EXHAUSTED
 * @param maxConcurrentCalls calls of one connection that may run at a time, those whose client has gone included; one
 *     more is refused with REFUSED_STREAM, which clients may repeat elsewhere
 * @param maxMetadataSize bytes of a call's metadata as HTTP/2 counts them (32 for each field besides name and value)
 * @param streamWindow bytes that a client may send on a stream ahead of what its handler consumed
 * @param connectionWindow bytes that may be on their way on a connection
 * @param maxFrameSize the largest DATA frame that a client may send
 * @param keepalive how connections are kept alive, and when they end
 */
public record ConnectionSettings(
        int maxMessageSize,
        int maxConcurrentCalls,
        int maxMetadataSize,
        int streamWindow,
        int connectionWindow,
        int maxFrameSize,
        KeepaliveSettings keepalive) {
    /** Refuses values that HTTP/2 cannot express. */
    public ConnectionSettings {
        require(maxMessageSize > 0, "maxMessageSize", maxMessageSize, "at least 1");
        require(maxConcurrentCalls > 0, "maxConcurrentCalls", maxConcurrentCalls, "at least 1");
        require(maxMetadataSize >= 1024, "maxMetadataSize", maxMetadataSize, "at least 1024");
        require(streamWindow >= 1024, "streamWindow", streamWindow, "at least 1024");
        require(
                connectionWindow >= Http2.DEFAULT_WINDOW_SIZE,
                "connectionWindow",
                connectionWindow,
                "at least " + Http2.DEFAULT_WINDOW_SIZE);
        require(
                maxFrameSize >= Http2.DEFAULT_MAX_FRAME_SIZE && maxFrameSize <= Http2.LARGEST_MAX_FRAME_SIZE,
                "maxFrameSize",
                maxFrameSize,
                "between " + Http2.DEFAULT_MAX_FRAME_SIZE + " and " + Http2.LARGEST_MAX_FRAME_SIZE);
    }

    /** Messages up to 2 GiB - 1, 1000 calls, 64 KiB of metadata, windows of 1 and 8 MiB, frames of 1 MiB. */
    public static ConnectionSettings standard() {
        return new ConnectionSettings(
                Integer.MAX_VALUE, 1000, 64 << 10, 1 << 20, 8 << 20, 1 << 20, KeepaliveSettings.standard());
    }

    private static void require(boolean holds, String name, int value, String expected) {
        if (!holds) {
            throw new IllegalArgumentException(name + " is " + value + " and must be " + expected);
        }
    }

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
}
