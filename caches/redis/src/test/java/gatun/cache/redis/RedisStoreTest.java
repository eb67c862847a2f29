// SPDX-License-Identifier: Apache-2.0
package gatun.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ResponseStore;
import gatun.testing.Certificates;
import gatun.testing.FreePorts;
import gatun.testing.RedisServer;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** With real Redis servers. */
@Timeout(60)
class RedisStoreTest {
    private static final byte[] KEY = new byte[32];

    private static RedisServer redis;

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(RedisServer.isInstalled(), "redis-server is not installed");
        redis = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        if (redis != null) {
            redis.close();
        }
    }

    private static ResponseStore open(Map<String, String> options, Map<String, String> environment) {
        return RedisStore.open(RedisSettings.of(new RedisOptions(options, environment::get)));
    }

    private static Map<String, String> at(int port, String... options) {
        Map<String, String> all = new HashMap<>(Map.of("host", "127.0.0.1", "port", Integer.toString(port)));
        for (int i = 0; i < options.length; i += 2) {
            all.put(options[i], options[i + 1]);
        }
        return all;
    }

    private static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, (byte) 200);
        return bytes;
    }

    @Test
    void shouldGetWhatAnyConnectionPut() {
        byte[] key = {1, 2, 3};
        try (ResponseStore one = open(at(redis.port()), Map.of());
                ResponseStore other = open(at(redis.port()), Map.of())) {
            assertThat(one.get(key)).isEmpty();
            one.put(key, bytes(1000));
            assertThat(other.get(key)).hasValue(bytes(1000));
            other.put(key, bytes(1));
            assertThat(one.get(key)).hasValue(bytes(1));
        }
    }

    @Test
    void shouldKeepDatabasesApart() {
        byte[] key = {4};
        try (ResponseStore one = open(at(redis.port()), Map.of());
                ResponseStore other = open(at(redis.port(), "db", "3"), Map.of())) {
            one.put(key, bytes(1));
            assertThat(other.get(key)).isEmpty();
        }
    }

    @Test
    void shouldNotReadMoreThanTheLimit() {
        byte[] key = {5};
        try (ResponseStore one = open(at(redis.port()), Map.of());
                ResponseStore other = open(at(redis.port(), "max_value_byte_size", "100"), Map.of())) {
            one.put(key, bytes(100));
            assertThat(other.get(key)).hasValue(bytes(100));
            one.put(key, bytes(101));
            assertThat(other.get(key)).isEmpty();
            assertThat(one.get(key)).hasValue(bytes(101));
        }
    }

    @Test
    void shouldFailWhileRedisIsGoneAndWorkWhenItIsBack() throws Exception {
        RedisServer first = RedisServer.start();
        int port = first.port();
        try (ResponseStore store = open(at(port), Map.of())) {
            store.put(KEY, bytes(1));
            first.close();
            assertThatThrownBy(() -> store.get(KEY))
                    .isInstanceOf(GatunException.class)
                    .hasMessageContaining("Redis does not respond");
            try (RedisServer second = RedisServer.startAt(port)) {
                assertThat(second.port()).isEqualTo(port);
                assertThat(store.get(KEY)).as("forgotten").isEmpty();
                store.put(KEY, bytes(2));
                assertThat(store.get(KEY)).hasValue(bytes(2));
            }
        }
    }

    @Test
    void shouldGoOnReadingWhereRedisIsFull() throws Exception {
        try (RedisServer full = RedisServer.start("--maxmemory", "3mb");
                ResponseStore store = open(at(full.port()), Map.of())) {
            store.put(KEY, bytes(10));
            for (int i = 0; i < 10; i++) {
                store.put(new byte[] {(byte) i}, bytes(1 << 20));
            }
            assertThat(store.get(new byte[] {9}))
                    .as("refused, which is no failure")
                    .isEmpty();
            assertThat(store.get(KEY)).hasValue(bytes(10));
        }
    }

    @Test
    void shouldSayWhoMustIntroduceItself() throws Exception {
        try (RedisServer closed = RedisServer.start("--requirepass", "redis123!")) {
            assertThatThrownBy(() -> open(at(closed.port()), Map.of()))
                    .hasMessageContaining("NOAUTH Authentication required");
            assertThatThrownBy(() -> open(at(closed.port(), "password", "wrong"), Map.of()))
                    .hasMessageContaining("WRONGPASS");
            assertThatThrownBy(() -> open(at(closed.port()), Map.of("TRITONCACHE_REDIS_PASSWORD", "wrong")))
                    .hasMessageContaining("WRONGPASS");
            open(at(closed.port(), "password", "redis123!"), Map.of()).close();
            open(at(closed.port(), "user", "default", "password", "redis123!"), Map.of())
                    .close();
            open(at(closed.port()), Map.of("TRITONCACHE_REDIS_PASSWORD", "redis123!"))
                    .close();
            open(
                            at(closed.port()),
                            Map.of("TRITONCACHE_REDIS_USERNAME", "default", "TRITONCACHE_REDIS_PASSWORD", "redis123!"))
                    .close();
        }
    }

    @Test
    void shouldSpeakTlsAndShowACertificate(@TempDir Path folder) throws Exception {
        Certificates certificates = new Certificates(folder);
        Certificates.Identity server = certificates.identity("redis");
        Certificates.Identity client = certificates.identity("client");
        try (RedisServer closed = RedisServer.start(
                "--tls-cert-file",
                server.certificate().toString(),
                "--tls-key-file",
                server.key().toString(),
                "--tls-ca-cert-file",
                client.certificate().toString())) {
            String[] trusting = {
                "tls_enabled", "true", "cacert", server.certificate().toString()
            };
            String[] known = {
                "tls_enabled", "true",
                "cacert", server.certificate().toString(),
                "cert", client.certificate().toString(),
                "key", client.key().toString(),
                "sni", "localhost"
            };
            try (ResponseStore store = open(at(closed.port(), known), Map.of())) {
                store.put(KEY, bytes(5));
                assertThat(store.get(KEY)).hasValue(bytes(5));
            }
            assertThatThrownBy(() -> open(at(closed.port(), trusting), Map.of()))
                    .as("without a certificate")
                    .isInstanceOf(GatunException.class);
            assertThatThrownBy(() -> open(at(closed.port(), "tls_enabled", "true"), Map.of()))
                    .as("nobody vouches for it")
                    .isInstanceOf(GatunException.class);
            assertThatThrownBy(
                            () -> open(at(closed.port(), "tls_enabled", "true", "cacert", folder + "/none"), Map.of()))
                    .hasMessageContaining("redis,cacert=");
        }
    }

    @Test
    void shouldSayThatNobodyListens() throws Exception {
        try (Socket nobody = FreePorts.refusing()) {
            assertThatThrownBy(() -> open(at(nobody.getLocalPort()), Map.of()))
                    .isInstanceOfSatisfying(GatunException.class, failure -> assertThat(failure.code())
                            .isEqualTo(ErrorCode.UNAVAILABLE))
                    .hasMessageContaining(
                            "failed to connect to Redis (127.0.0.1:" + nobody.getLocalPort() + "): Connection refused");
        }
    }
}
