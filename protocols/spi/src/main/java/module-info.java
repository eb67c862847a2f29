// SPDX-License-Identifier: Apache-2.0
/** The interface of a protocol to the server: routes over HTTP, services over gRPC. */
module gatun.protocol {
    requires static org.jspecify;
    requires transitive gatun.grpc;
    requires transitive gatun.http;
    requires transitive gatun.runtime;

    exports gatun.protocol;
    exports gatun.protocol.flags;
}
