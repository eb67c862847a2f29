// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.connection.KeepaliveSettings;
import gatun.runtime.access.ApiAccess;

/**
 * How gRPC is spoken, whatever the protocol.
 *
 * @param maxMessageSize bytes of one request message, decompressed too; a larger one is refused with RESOURCE_EXHAUSTED
 * @param maxConcurrentCalls calls of one connection that may run at a time; one more is refused so that clients may
 *     repeat it
 * @param keepalive how connections are kept alive, and when they end
 * @param access which groups of calls need which metadata
 */
public record GrpcSettings(int maxMessageSize, int maxConcurrentCalls, KeepaliveSettings keepalive, ApiAccess access) {
    private static final int DEFAULT_MAX_CALLS = 1000;

    /** Messages up to 2 GiB - 1, as Triton takes them, 1000 calls of a connection at a time, open to all. */
    public static GrpcSettings standard() {
        return new GrpcSettings(Integer.MAX_VALUE, DEFAULT_MAX_CALLS, KeepaliveSettings.standard(), ApiAccess.open());
    }

    /** The same, with connections that are kept alive otherwise. */
    public GrpcSettings withKeepalive(KeepaliveSettings settings) {
        return new GrpcSettings(maxMessageSize, maxConcurrentCalls, settings, access);
    }

    /** The same, with calls restricted otherwise. */
    public GrpcSettings withAccess(ApiAccess other) {
        return new GrpcSettings(maxMessageSize, maxConcurrentCalls, keepalive, other);
    }
}
