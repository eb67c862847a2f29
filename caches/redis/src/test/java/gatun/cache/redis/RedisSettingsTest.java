// SPDX-License-Identifier: Apache-2.0
package gatun.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisSettingsTest {
    private static RedisSettings settings(String... options) {
        Map<String, String> all = new HashMap<>(Map.of("host", "store", "port", "6379"));
        for (int i = 0; i < options.length; i += 2) {
            all.put(options[i], options[i + 1]);
        }
        return RedisSettings.of(new RedisOptions(all, name -> null));
    }

    @Test
    void shouldWaitAndAskForABoundedAmountByDefault() {
        RedisSettings settings = settings();
        assertThat(settings.host()).isEqualTo("store");
        assertThat(settings.port()).isEqualTo(6379);
        assertThat(settings.credentials()).isEmpty();
        assertThat(settings.tls()).isEmpty();
        assertThat(settings.database()).isZero();
        assertThat(settings.timeouts())
                .isEqualTo(new RedisSettings.Timeouts(Duration.ofSeconds(1), Duration.ofSeconds(1)));
        assertThat(settings.limits().patience()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void shouldTakeTritonsOptions() {
        RedisSettings settings = settings(
                "db", "2", "connect_timeout", "5", "socket_timeout", "6", "pool_size", "3", "wait_timeout", "7");
        assertThat(settings.database()).isEqualTo(2);
        assertThat(settings.timeouts())
                .isEqualTo(new RedisSettings.Timeouts(Duration.ofMillis(5), Duration.ofMillis(6)));
        assertThat(settings.limits().calls()).isEqualTo(3);
        assertThat(settings.limits().patience()).isEqualTo(Duration.ofMillis(7));
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "port"})
    void shouldAskForTheAddress(String only) {
        RedisOptions options = new RedisOptions(Map.of(only, "1"), name -> null);
        assertThatThrownBy(() -> RedisSettings.of(options)).hasMessageContaining("Must at a minimum specify");
    }

    @ParameterizedTest
    @CsvSource({
        "port,nonexistent",
        "port,0",
        "port,65536",
        "db,-1",
        "connect_timeout,0",
        "socket_timeout,60001",
        "pool_size,0",
        "wait_timeout,soon",
        "tls_enabled,yes",
        "max_value_byte_size,67108865"
    })
    void shouldSayWhatIsWrongAndExpected(String option, String value) {
        assertThatThrownBy(() -> settings(option, value))
                .hasMessageStartingWith("redis," + option + "=" + value + ": expected");
    }

    @Test
    void shouldNameTheOptionsThatThereAre() {
        assertThatThrownBy(() -> settings("hots", "x"))
                .hasMessageContaining("'hots'")
                .hasMessageContaining("host");
    }

    @Test
    void shouldRefuseHalfOfACertificateAndAUserWithoutAPassword() {
        assertThatThrownBy(() -> settings("tls_enabled", "true", "cert", "a")).hasMessageContaining("belong together");
        assertThatThrownBy(() -> settings("user", "me")).hasMessageContaining("needs a password");
    }
}
