/** Keeps cached responses in a Redis server, for several servers. */
module gatun.cache.redis {
    requires static org.jspecify;
    requires gatun.spi;
    requires gatun.listener;
    requires org.apache.commons.pool2;
    requires redis.clients.jedis;

    provides gatun.spi.ResponseStoreProvider with
            gatun.cache.redis.RedisStoreProvider;
}
