// SPDX-License-Identifier: Apache-2.0
/** The legacy v1 API: the meaning of its messages for the runtime, its routes over HTTP and its service over gRPC. */
module gatun.v1 {
    requires static org.jspecify;
    requires transitive gatun.protocol;
    requires gatun.wire;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires org.slf4j;

    exports gatun.v1.protocol;

    provides gatun.protocol.ProtocolProvider with
            gatun.v1.protocol.V1ProtocolProvider;
}
