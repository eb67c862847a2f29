// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.runtime.access.HeaderForwarding.HeaderRules;

/**
 * The settings that all protocols share.
 *
 * @param maxInputByteSize the most bytes of JSON, of a raw input, or of a decompressed body that an HTTP request may
 *     have
 * @param clientMemory what clients may do with shared memory
 * @param healthBodies whether health over HTTP is told as JSON too, or by the status alone
 * @param http the headers that HTTP requests need, and those that are passed to models
 * @param grpc the metadata that gRPC calls need, and the part that is passed to models
 */
public record ProtocolSettings(
        long maxInputByteSize,
        ClientRegions.Rules clientMemory,
        boolean healthBodies,
        HeaderRules http,
        HeaderRules grpc) {
    /** Triton's default: 64 MiB. */
    public static final long DEFAULT_MAX_INPUT_BYTE_SIZE = 64L << 20;

    /** Checks the limit. */
    public ProtocolSettings {
        if (maxInputByteSize < 1) {
            throw new IllegalArgumentException(
                    "the maximum input size is " + maxInputByteSize + " bytes: expected at least 1");
        }
    }

    /** 64 MiB, shared memory, health as JSON, nothing restricted and nothing forwarded. */
    public static ProtocolSettings standard() {
        return new ProtocolSettings(
                DEFAULT_MAX_INPUT_BYTE_SIZE,
                ClientRegions.Rules.STANDARD.withRegistration(true),
                true,
                HeaderRules.none(),
                HeaderRules.none());
    }

    /** The same with another limit. */
    public ProtocolSettings withMaxInputByteSize(long limit) {
        return new ProtocolSettings(limit, clientMemory, healthBodies, http, grpc);
    }

    /** The same with other rules for shared memory. */
    public ProtocolSettings withClientMemory(ClientRegions.Rules rules) {
        return new ProtocolSettings(maxInputByteSize, rules, healthBodies, http, grpc);
    }

    /** The same with other rules for headers. */
    public ProtocolSettings withHeaders(HeaderRules forHttp, HeaderRules forGrpc) {
        return new ProtocolSettings(maxInputByteSize, clientMemory, healthBodies, forHttp, forGrpc);
    }

    /** The same with health told by the status alone. */
    public ProtocolSettings withoutHealthBodies() {
        return new ProtocolSettings(maxInputByteSize, clientMemory, false, http, grpc);
    }
}
