// SPDX-License-Identifier: Apache-2.0
package gatun.cache.redis;

import gatun.listener.PeerTls;
import gatun.memory.tensor.GatunException;
import gatun.spi.ResponseStore;
import java.time.Duration;
import java.util.Optional;

/** How to reach a Redis server, as nobody without {@code credentials}, in clear without {@code tls}; and its limits. */
record RedisSettings(
        String host,
        int port,
        Optional<Credentials> credentials,
        int database,
        Optional<Tls> tls,
        Timeouts timeouts,
        ResponseStore.Limits limits) {
    private static final int LARGEST_VALUE = 64 << 20;

    /** Who this server is to Redis; the default user where it names none. */
    record Credentials(Optional<String> user, String password) {}

    /** TLS to Redis. The certificate must have {@code serverName}, or the host's name where that is empty. */
    record Tls(PeerTls files, Optional<String> serverName) {}

    /** How long to wait. */
    record Timeouts(Duration connect, Duration response) {}

    /** @throws GatunException INVALID_ARGUMENT when an option is unknown, missing or wrong */
    static RedisSettings of(RedisOptions options) {
        Optional<String> host = options.text("host");
        Optional<String> port = options.text("port");
        if (host.isEmpty() || port.isEmpty()) {
            throw GatunException.invalidArgument(
                    "Failed to initialize RedisCache, didn't specify address. Must at a minimum specify 'host' and"
                            + " 'port' in the configuration: expected redis,host=HOST and redis,port=PORT");
        }
        Optional<String> user = options.text("user").or(() -> options.variable("TRITONCACHE_REDIS_USERNAME"));
        Optional<String> password = options.text("password").or(() -> options.variable("TRITONCACHE_REDIS_PASSWORD"));
        if (user.isPresent() && password.isEmpty()) {
            throw GatunException.invalidArgument("redis,user=" + user.get()
                    + " needs a password: expected redis,password=PASSWORD, or TRITONCACHE_REDIS_PASSWORD in the"
                    + " environment");
        }
        RedisSettings settings = new RedisSettings(
                host.get(),
                options.number("port", 0, 1, 65_535),
                password.map(secret -> new Credentials(user, secret)),
                options.number("db", 0, 0, Integer.MAX_VALUE),
                tls(options),
                new Timeouts(options.millis("connect_timeout", 1000), options.millis("socket_timeout", 1000)),
                new ResponseStore.Limits(
                        options.number("pool_size", 8, 1, 1024),
                        options.millis("wait_timeout", 1000),
                        options.number("max_value_byte_size", 1 << 20, 1, LARGEST_VALUE)));
        options.requireAllRead();
        return settings;
    }

    private static Optional<Tls> tls(RedisOptions options) {
        PeerTls files = new PeerTls(options.file("cert"), options.file("key"), options.file("cacert"));
        Optional<String> serverName = options.text("sni");
        if (files.certificate().isPresent() != files.privateKey().isPresent()) {
            throw GatunException.invalidArgument(
                    "redis,cert=FILE and redis,key=FILE belong together, and only one of them is there");
        }
        return options.truth("tls_enabled") ? Optional.of(new Tls(files, serverName)) : Optional.empty();
    }
}
