// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.Http2;
import java.time.Duration;
import java.util.Optional;

/**
 * The limits of every connection of one listener. A request message over {@code maxMessageSize} bytes, decompressed
 * too, fails its call with RESOURCE_EXHAUSTED; a call beyond {@code maxConcurrentCalls}, those whose client has gone
 * included, is refused with REFUSED_STREAM, which clients may repeat elsewhere. {@code maxMetadataSize} is in bytes as
 * HTTP/2 counts them (32 for each field besides name and value). {@code streamWindow} limits bytes ahead of what the
 * handler consumed, {@code connectionWindow} those on their way, {@code maxFrameSize} a client's DATA frame.
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
     * How connections are kept alive, and when they end unasked. {@code withoutCalls} if PINGs may be sent while no
     * call runs; {@code patience} for a client to greet, TLS handshake included, and to send a header block that it
     * began.
     */
    public record KeepaliveSettings(
            Pings pings, ClientPings clientPings, boolean withoutCalls, Age age, Duration patience) {
        /**
         * The server asks by a PING whether a client is there, after {@code time} without a frame of it; without an
         * answer in {@code timeout} the connection ends. {@code withoutData} PINGs, 0 for any, go with nothing else.
         */
        public record Pings(Duration time, Duration timeout, int withoutData) {}

        /** The least time between a client's PINGs while we send nothing, and how many may be early; 0 for any. */
        public record ClientPings(Duration leastInterval, int strikes) {}

        /** The age, a tenth more or less, when new calls go elsewhere, and then the time for running ones. */
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
