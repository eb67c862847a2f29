// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestartPolicyTest {
    /** The clock's readings have no meaning of their own, and pass the largest number one day. */
    private static final long BEGINNING = Long.MAX_VALUE - Duration.ofSeconds(3).toNanos();

    private final RestartPolicy policy = new RestartPolicy();

    private static long at(double seconds) {
        return BEGINNING + (long) (seconds * 1e9);
    }

    private double delaySeconds(double now) {
        return policy.delayNanos(at(now)) / 1e9;
    }

    @Test
    void shouldNotWaitBeforeAnythingHasEnded() {
        assertThat(policy.recentDeaths(at(0))).isZero();
        assertThat(policy.delayNanos(at(0))).isZero();
    }

    @Test
    void shouldWaitTwiceAsLongEachTimeUpToHalfAMinute() {
        List<Double> delays = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            policy.died(at(i));
            delays.add(delaySeconds(i));
        }
        assertThat(delays.subList(0, 9)).containsExactly(0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0);
        assertThat(delays.subList(9, 20)).containsOnly(30.0);
    }

    @Test
    void shouldCountTheDelayFromTheLatestDeath() {
        policy.died(at(0));
        policy.died(at(1));
        policy.died(at(2));
        assertThat(delaySeconds(2.5)).isEqualTo(1.5);
        assertThat(delaySeconds(4)).isZero();
        assertThat(delaySeconds(5))
                .as("it might have been started a second ago")
                .isEqualTo(-1.0);
    }

    @Test
    void shouldForgetWhatWasMoreThanAMinuteAgo() {
        policy.died(at(0));
        policy.died(at(30));
        assertThat(policy.recentDeaths(at(60))).isEqualTo(2);
        assertThat(policy.recentDeaths(at(60.001))).isEqualTo(1);
        policy.died(at(61));
        assertThat(delaySeconds(61)).as("the second within a minute").isEqualTo(1.0);
        assertThat(policy.recentDeaths(at(122))).isZero();
        policy.died(at(123));
        assertThat(delaySeconds(123)).as("the first again").isZero();
    }

    @Test
    void shouldReachTheLimitWithSomeDeathsAndRememberBoundedlyMany() {
        for (int i = 1; i <= RestartPolicy.LIMIT; i++) {
            assertThat(policy.recentDeaths(at(i))).isLessThan(RestartPolicy.LIMIT);
            policy.died(at(i));
        }
        assertThat(policy.recentDeaths(at(RestartPolicy.LIMIT))).isEqualTo(RestartPolicy.LIMIT);
        for (int i = 0; i < 1000; i++) {
            policy.died(at(10));
        }
        assertThat(policy.recentDeaths(at(10))).isEqualTo(2 * RestartPolicy.LIMIT);
    }
}
