// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SendScheduleTest {
    private static final int REQUESTS = 100_000;
    private static final double PER_SECOND = 1000;
    private static final double MEAN_GAP_NANOS = 1e9 / PER_SECOND;

    @Test
    void shouldHaveExponentialGapsOfTheRightMean() {
        long[] times = times(Distribution.POISSON, 7);
        double mean = times[REQUESTS - 1] / (double) REQUESTS;
        assertThat(mean).isCloseTo(MEAN_GAP_NANOS, within(MEAN_GAP_NANOS / 50));
        double squares = 0;
        for (int i = 1; i < REQUESTS; i++) {
            squares += Math.pow(times[i] - times[i - 1] - mean, 2);
        }
        // An exponential distribution spreads as far as its mean.
        assertThat(Math.sqrt(squares / REQUESTS)).isCloseTo(MEAN_GAP_NANOS, within(MEAN_GAP_NANOS / 50));
    }

    @Test
    void shouldHaveEqualGapsWhereTheyAreConstant() {
        Pace pace = new Load.RequestRate(PER_SECOND, Distribution.CONSTANT).pace(5, 0);
        assertThat(LongStream.range(0, 4).map(i -> pace.next(0)))
                .containsExactly(1_000_005L, 2_000_005L, 3_000_005L, 4_000_005L);
    }

    @Test
    void shouldGiveTheSameTimesForTheSameSeed() {
        assertThat(times(Distribution.POISSON, 7)).isEqualTo(times(Distribution.POISSON, 7));
        assertThat(times(Distribution.POISSON, 7)).isNotEqualTo(times(Distribution.POISSON, 8));
    }

    @Test
    void shouldCountWhatIsDueAndNotTaken() {
        Pace pace = new Load.RequestRate(PER_SECOND, Distribution.CONSTANT).pace(0, 0);
        pace.next(0);
        assertThat(pace.overdue(1_999_999)).isZero();
        assertThat(pace.overdue(10_000_000)).isEqualTo(9);
    }

    @Test
    void shouldSendAtOnceInAClosedLoop() {
        assertThat(new Load.Concurrency(3).pace(5, 0).next(42)).isEqualTo(42);
    }

    private static long[] times(Distribution distribution, long seed) {
        Pace pace = new Load.RequestRate(PER_SECOND, distribution).pace(0, seed);
        return LongStream.range(0, REQUESTS).map(i -> pace.next(0)).toArray();
    }
}
