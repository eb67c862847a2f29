// SPDX-License-Identifier: Apache-2.0
package gatun.cache.redis;

import gatun.listener.TlsException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ResponseStore;
import java.lang.System.Logger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Values in a Redis server, each under {@code gatun:response:} and its key in hexadecimal digits. They have no time to
 * live: the Redis server's own limit of memory, with a policy that evicts, bounds them. Safe for any thread.
 */
final class RedisStore implements ResponseStore {
    private static final Logger LOG = System.getLogger(RedisStore.class.getName());
    private static final String PREFIX = "gatun:response:";
    private static final long REFUSAL_INTERVAL = Duration.ofMinutes(1).toNanos();

    private final RedisClient client;
    private final Limits limits;
    private final AtomicLong lastRefusalNanos = new AtomicLong(System.nanoTime() - REFUSAL_INTERVAL);

    private RedisStore(RedisClient client, Limits limits) {
        this.client = client;
        this.limits = limits;
    }

    /** Connects. Throws {@link GatunException} UNAVAILABLE, or INVALID_ARGUMENT for a TLS file. */
    static RedisStore open(RedisSettings settings) {
        RedisClient client = RedisClient.builder()
                .hostAndPort(new HostAndPort(settings.host(), settings.port()))
                .clientConfig(connection(settings))
                .poolConfig(pool(settings.limits()))
                .build();
        try {
            client.ping();
        } catch (JedisException e) {
            client.close();
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "Failed to initialize RedisCache: failed to connect to Redis (" + settings.host() + ":"
                            + settings.port() + "): " + reason(e)
                            + ". Start a Redis server there, or name another one, or start without this cache",
                    e);
        }
        return new RedisStore(client, settings.limits());
    }

    private static DefaultJedisClientConfig connection(RedisSettings settings) {
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
                .connectionTimeoutMillis((int) settings.timeouts().connect().toMillis())
                .socketTimeoutMillis((int) settings.timeouts().response().toMillis())
                .database(settings.database())
                .clientName("gatun")
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
        settings.credentials().ifPresent(credentials -> {
            credentials.user().ifPresent(config::user);
            config.password(credentials.password());
        });
        settings.tls().ifPresent(tls -> encrypt(config, tls));
        return config.build();
    }

    // What replaces the deprecated calls reads key stores, and the files are PEM.
    @SuppressWarnings("deprecation")
    private static void encrypt(DefaultJedisClientConfig.Builder config, RedisSettings.Tls tls) {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        tls.serverName().ifPresent(name -> parameters.setServerNames(List.of(new SNIHostName(name))));
        try {
            config.ssl(true)
                    .sslSocketFactory(tls.files().read().getSocketFactory())
                    .sslParameters(parameters);
        } catch (TlsException e) {
            throw new GatunException(ErrorCode.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }

    private static ConnectionPoolConfig pool(Limits limits) {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(limits.calls());
        pool.setMaxIdle(limits.calls());
        pool.setMaxWait(limits.patience());
        pool.setJmxEnabled(false);
        return pool;
    }

    /** The text of the failure at the bottom, which says what happened; Jedis hides those of connecting beside its own. */
    private static String reason(Throwable failure) {
        if (failure.getCause() != null) {
            return reason(failure.getCause());
        }
        if (failure.getSuppressed().length > 0) {
            return reason(failure.getSuppressed()[0]);
        }
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public Optional<byte[]> get(byte[] key) {
        // No more of a value than is allowed, whatever somebody else has put there.
        byte[] value = call(new byte[0], () -> client.getrange(name(key), 0, limits.valueByteSize()));
        return value.length == 0 || value.length > limits.valueByteSize() ? Optional.empty() : Optional.of(value);
    }

    @Override
    public void put(byte[] key, byte[] value) {
        call("", () -> client.set(name(key), value));
    }

    private static byte[] name(byte[] key) {
        return (PREFIX + HexFormat.of().formatHex(key)).getBytes(StandardCharsets.US_ASCII);
    }

    /** What the server responds; {@code refused} where it refuses this command, as it does when it is full. */
    private <T> T call(T refused, Supplier<T> command) {
        try {
            return command.get();
        } catch (JedisDataException e) {
            long now = System.nanoTime();
            long last = lastRefusalNanos.get();
            if (now - last >= REFUSAL_INTERVAL && lastRefusalNanos.compareAndSet(last, now)) {
                LOG.log(Logger.Level.WARNING, "Redis refuses to keep or give cached responses: " + e.getMessage());
            }
            return refused;
        } catch (JedisException e) {
            client.getPool().clear(); // the other connections go the same way, and are worth no try each
            throw new GatunException(ErrorCode.UNAVAILABLE, "Redis does not respond: " + reason(e), e);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
