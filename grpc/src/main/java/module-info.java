/**
 * The gRPC edge. {@code gatun.grpc.connection} runs any io.grpc service on HTTP/2 and knows nothing of inference;
 * {@code gatun.grpc.v2} holds the services and knows nothing of frames; {@code gatun.grpc} joins the two.
 */
module gatun.grpc {
    requires static org.jspecify;
    requires transitive gatun.runtime;
    requires gatun.tensorflow.serving;
    requires transitive gatun.listener;
    requires gatun.protocol;
    requires transitive gatun.v1;
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
    // How connections are kept alive is for the server's flags to say.
    exports gatun.grpc.connection to
            gatun.server;
    // Requests that were recorded in the words of that protocol warm models up.
    exports gatun.grpc.tensorflow to
            gatun.server;
    // Counters of models as messages, for callers in the server's own process.
    exports gatun.grpc.v2 to
            gatun.server;
}
