// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/** The protocol and the transport by which a request came. Latencies are kept apart by it. */
public enum Origin {
    /** From this very process. */
    EMBEDDED("none", "none"),
    /** The Open Inference Protocol over HTTP. */
    V2_HTTP("v2", "http"),
    /** The Open Inference Protocol over gRPC, one call for each request. */
    V2_GRPC("v2", "grpc"),
    /** The Open Inference Protocol over a gRPC stream. */
    V2_GRPC_STREAM("v2", "grpc_stream"),
    /** The Open Inference Protocol over a lane: memory that the client and the server share, and no socket. */
    V2_LANE("v2", "lane"),
    /** TensorFlow Serving's API over gRPC. */
    TENSORFLOW_GRPC("tensorflow", "grpc"),
    /** TensorFlow Serving's API over HTTP. */
    TENSORFLOW_HTTP("tensorflow", "http"),
    /** The legacy v1 API over HTTP. */
    V1_HTTP("v1", "http"),
    /** The legacy v1 API over gRPC, one call for each request. */
    V1_GRPC("v1", "grpc"),
    /** The legacy v1 API over a gRPC stream. */
    V1_GRPC_STREAM("v1", "grpc_stream");

    private final String protocol;
    private final String transport;

    Origin(String protocol, String transport) {
        this.protocol = protocol;
        this.transport = transport;
    }

    /** The protocol's name, as metrics give it. */
    public String protocol() {
        return protocol;
    }

    /** The transport's name, as metrics give it. */
    public String transport() {
        return transport;
    }
}
