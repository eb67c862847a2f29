/**
 * The parts that both protocols' listeners need of the one that accepts their connections: its connections and how many
 * there may be, their channels, and TLS.
 */
module gatun.listener {
    requires static org.jspecify;
    requires transitive io.helidon.common.socket;
    requires transitive io.helidon.webserver;
    requires gatun.bindings;
    requires transitive gatun.memory;
    requires io.helidon.common.context;
    requires io.helidon.common.concurrency.limits;
    requires io.helidon.http.encoding;
    requires io.helidon.http.media;
    requires io.helidon.service.registry;
    requires org.slf4j;

    exports gatun.listener to
            gatun.grpc,
            gatun.cache.redis,
            gatun.http,
            gatun.protocol,
            gatun.server,
            gatun.tensorflow.serving;
}
