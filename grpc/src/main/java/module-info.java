// SPDX-License-Identifier: Apache-2.0
/**
 * The gRPC listener. {@code gatun.grpc.connection} runs any io.grpc service on HTTP/2 and knows nothing of inference: it
 * stands on {@code calls}, those on {@code streams}, those on {@code headers}, and those on {@code frames};
 * {@code gatun.grpc.message} reads and writes the messages of inferences where they lie; {@code gatun.grpc} joins the
 * services of protocols, which it does not know.
 */
module gatun.grpc {
    requires static org.jspecify;
    requires transitive gatun.runtime;
    requires transitive gatun.listener;
    requires transitive io.helidon.webserver;
    requires io.helidon.common.buffers;
    requires io.helidon.common.concurrency.limits;
    requires transitive io.helidon.common.socket;
    requires transitive io.grpc;
    requires io.grpc.stub;
    requires io.grpc.protobuf;
    requires io.grpc.services;
    requires com.google.protobuf;
    requires org.eclipse.jetty.http;
    requires org.eclipse.jetty.http2.hpack;
    requires org.slf4j;

    exports gatun.grpc;
    exports gatun.grpc.message;
    // How connections are kept alive is for the server's flags to say.
    exports gatun.grpc.connection;
    // The call of a handler, and its messages.
    exports gatun.grpc.calls;
    exports gatun.grpc.streams;
    exports gatun.grpc.frames;
}
