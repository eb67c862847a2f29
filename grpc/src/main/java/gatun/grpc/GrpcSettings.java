// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.connection.KeepaliveSettings;
import gatun.grpc.tensorflow.TensorFlowSettings;
import gatun.runtime.access.HeaderRules;

/**
 * How the gRPC services behave.
 *
 * @param maxMessageSize bytes of one request message, decompressed too; a larger one is refused with RESOURCE_EXHAUSTED
 * @param maxConcurrentCalls calls of one connection that may run at a time; one more is refused so that clients may
 *     repeat it
 * @param clientSharedMemory whether clients may register shared memory
 * @param keepalive how connections are kept alive, and when they end
 * @param headers which calls need which metadata, and what of it models learn
 * @param compression how much inference responses are compressed
 * @param tensorFlow how TensorFlow Serving's services behave
 */
public record GrpcSettings(
        int maxMessageSize,
        int maxConcurrentCalls,
        boolean clientSharedMemory,
        KeepaliveSettings keepalive,
        HeaderRules headers,
        ResponseCompression compression,
        TensorFlowSettings tensorFlow) {
    private static final int DEFAULT_MAX_CALLS = 1000;

    /** Messages up to 2 GiB - 1, as Triton takes them, 1000 calls of a connection at a time, no shared memory. */
    public static GrpcSettings standard() {
        return new GrpcSettings(
                Integer.MAX_VALUE,
                DEFAULT_MAX_CALLS,
                false,
                KeepaliveSettings.standard(),
                HeaderRules.none(),
                ResponseCompression.NONE,
                TensorFlowSettings.STANDARD);
    }

    /** The same, with another choice for shared memory. */
    public GrpcSettings withClientSharedMemory(boolean allowed) {
        return new GrpcSettings(
                maxMessageSize, maxConcurrentCalls, allowed, keepalive, headers, compression, tensorFlow);
    }

    /** The same, with connections that are kept alive otherwise. */
    public GrpcSettings withKeepalive(KeepaliveSettings settings) {
        return new GrpcSettings(
                maxMessageSize, maxConcurrentCalls, clientSharedMemory, settings, headers, compression, tensorFlow);
    }

    /** The same, with other rules for metadata. */
    public GrpcSettings withHeaders(HeaderRules other) {
        return new GrpcSettings(
                maxMessageSize, maxConcurrentCalls, clientSharedMemory, keepalive, other, compression, tensorFlow);
    }

    /** The same, with inference responses compressed so much. */
    public GrpcSettings withCompression(ResponseCompression level) {
        return new GrpcSettings(
                maxMessageSize, maxConcurrentCalls, clientSharedMemory, keepalive, headers, level, tensorFlow);
    }

    /** The same, with TensorFlow Serving's services behaving otherwise. */
    public GrpcSettings withTensorFlow(TensorFlowSettings settings) {
        return new GrpcSettings(
                maxMessageSize, maxConcurrentCalls, clientSharedMemory, keepalive, headers, compression, settings);
    }
}
