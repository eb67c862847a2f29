/** What both edges need of the listener that accepts their connections: its channels, and TLS. */
module gatun.listener {
    requires static org.jspecify;
    requires transitive io.helidon.common.socket;
    requires org.slf4j;

    exports gatun.listener to
            gatun.grpc,
            gatun.http,
            gatun.server;
}
