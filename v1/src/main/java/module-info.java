/**
 * The legacy v1 API without its transports: what its messages mean for the runtime, and how the runtime's answers are told in them. Both
 * edges use it; nothing of v1 goes further than here.
 */
module gatun.v1 {
    requires static org.jspecify;
    requires transitive gatun.runtime;
    requires transitive gatun.protocol;
    requires com.google.protobuf;

    exports gatun.v1 to
            gatun.http,
            gatun.grpc,
            gatun.server;
}
