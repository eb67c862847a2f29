// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.Http2;

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
}
