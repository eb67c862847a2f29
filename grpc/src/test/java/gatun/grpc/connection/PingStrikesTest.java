// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.grpc.connection.ClientSettings.FloodGuard.PingStrikes;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.time.Duration;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** How often a client may PING. */
class PingStrikesTest {
    private long now = 1000;

    private PingStrikes strikes(int limit, boolean withoutCalls) {
        return new PingStrikes(
                new KeepaliveSettings(
                        new KeepaliveSettings.Pings(Duration.ofHours(1), Duration.ofSeconds(1), 2),
                        new KeepaliveSettings.ClientPings(Duration.ofSeconds(10), limit),
                        withoutCalls,
                        KeepaliveSettings.Age.ANY,
                        Duration.ofSeconds(20)),
                () -> now);
    }

    @Test
    void shouldCutOffAClientWithMoreStrikesThanAreAllowed() {
        PingStrikes strikes = strikes(2, false);
        for (int i = 0; i < 3; i++) {
            strikes.ping(false, true);
        }

        assertThatThrownBy(() -> strikes.ping(false, true))
                .hasMessage("too_many_pings")
                .asInstanceOf(InstanceOfAssertFactories.type(ConnectionError.class))
                .extracting(ConnectionError::error)
                .isEqualTo(Http2Error.ENHANCE_YOUR_CALM);
    }

    @Test
    void shouldTakePingsThatAreFarEnoughApart() {
        PingStrikes strikes = strikes(1, false);

        assertThatCode(() -> {
                    for (int i = 0; i < 20; i++) {
                        strikes.ping(false, true);
                        now += Duration.ofSeconds(10).toNanos();
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void shouldForgiveWhatCameBeforeDataWasSent() {
        PingStrikes strikes = strikes(1, false);

        assertThatCode(() -> {
                    for (int i = 0; i < 20; i++) {
                        strikes.ping(i % 3 == 0, true);
                        now += i % 3 == 1 ? Duration.ofSeconds(10).toNanos() : 1;
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void shouldWantTwoHoursBetweenPingsWithoutCalls() {
        PingStrikes strikes = strikes(1, false);
        strikes.ping(false, false);
        now += Duration.ofMinutes(30).toNanos();
        strikes.ping(false, false);
        now += Duration.ofMinutes(30).toNanos();

        assertThatThrownBy(() -> strikes.ping(false, false)).hasMessage("too_many_pings");
        PingStrikes permitting = strikes(1, true);
        for (int i = 0; i < 20; i++) {
            permitting.ping(false, false);
            now += Duration.ofSeconds(10).toNanos();
        }
        assertThat(now).isGreaterThan(Duration.ofHours(1).toNanos());
    }

    @Test
    void shouldCountNoStrikesWhereAnyNumberIsAllowed() {
        PingStrikes strikes = strikes(0, false);

        assertThatCode(() -> {
                    for (int i = 0; i < 1000; i++) {
                        strikes.ping(false, false);
                    }
                })
                .doesNotThrowAnyException();
    }
}
