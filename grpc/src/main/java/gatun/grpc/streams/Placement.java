// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import java.nio.ByteBuffer;

/**
 * An interface that a request marshaller may implement besides {@code MethodDescriptor.Marshaller} to choose how far
 * into its buffer, which is aligned to 64 bytes, a message is put, so that something inside the message is aligned.
 * Called by the connection's reader: must be quick and must not throw.
 */
@FunctionalInterface
public interface Placement {
    /**
     * The number of bytes, 0 to 63, to leave free in front of a message.
     *
     * @param start the message's first bytes, as many as have come, between position and limit; only read
     * @param byteSize the length of the whole message
     */
    int offset(ByteBuffer start, long byteSize);
}
