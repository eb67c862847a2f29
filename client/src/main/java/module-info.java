/** The Java client of Gatun, and of every other server of the Open Inference Protocol. */
module gatun.client {
    requires static org.jspecify;
    requires transitive gatun.memory;
    requires transitive gatun.wire;
    requires com.fasterxml.jackson.core;
    requires com.google.protobuf.util;

    uses gatun.client.ClientProvider;

    provides gatun.client.ClientProvider with
            gatun.client.balancing.BalancedClient.Provider,
            gatun.client.grpc.GrpcGatunClient.Provider,
            gatun.client.http.HttpGatunClient.Provider,
            gatun.client.lane.LaneGatunClient.Provider;

    exports gatun.client;
    // A client of a server in the same process makes its calls in the same way.
    exports gatun.client.calls to
            gatun.server;
    // The load tool makes calls of other protocols over the same channels.
    exports gatun.client.http to
            gatun.bench;
    exports gatun.client.grpc to
            gatun.bench;
}
