/** What both edges need of the listener that accepts their connections. */
module gatun.listener {
    requires static org.jspecify;
    requires transitive io.helidon.common.socket;

    exports gatun.listener to
            gatun.grpc,
            gatun.http;
}
