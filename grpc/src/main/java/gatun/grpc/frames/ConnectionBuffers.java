// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.listener.IoBuffers;

/**
 * The native buffers of a listener's gRPC connections. A connection keeps two small ones, in which ordinary requests
 * and responses fit, and takes a large one only while more than that is on its way. Thread-safe.
 *
 * @param small buffers of {@link #SMALL_BYTE_SIZE} bytes
 * @param large buffers of {@link IoBuffers#BYTE_SIZE} bytes
 */
public record ConnectionBuffers(IoBuffers small, IoBuffers large) {
    /** Bytes of a small buffer: they are the largest cost of an idle connection. */
    static final int SMALL_BYTE_SIZE = 2560;

    /** Small buffers of their own beside the {@code large} ones. */
    public ConnectionBuffers(IoBuffers large) {
        this(new IoBuffers(SMALL_BYTE_SIZE), large);
    }
}
