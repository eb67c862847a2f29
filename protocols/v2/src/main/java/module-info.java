// SPDX-License-Identifier: Apache-2.0
/** Triton's protocol, version 2: its routes over HTTP and its service over gRPC. */
module gatun.v2 {
    requires static org.jspecify;
    requires jdk.jfr;
    requires transitive gatun.protocol;
    requires gatun.wire;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires org.slf4j;

    exports gatun.v2.protocol;
    // Requests of v2 in other clothes.
    exports gatun.v2.http to
            gatun.cloud;
    // Counters of models as messages, for callers in the server's own process.
    exports gatun.v2.grpc to
            gatun.server;

    provides gatun.protocol.ProtocolProvider with
            gatun.v2.protocol.V2ProtocolProvider;
}
