// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.Latencies.LatencyBuckets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LatenciesTest {
    private static Latencies of(long... nanos) {
        long[] counts = new long[LatencyBuckets.COUNT];
        long sum = 0;
        for (long each : nanos) {
            counts[LatencyBuckets.bucketOf(each)]++;
            sum += each;
        }
        return new Latencies(counts, sum);
    }

    @Test
    void shouldLeaveNoGapBetweenBucketsAndNoOverlap() {
        assertThat(LatencyBuckets.lowest(0)).isZero();
        for (int bucket = 0; bucket < LatencyBuckets.COUNT; bucket++) {
            assertThat(LatencyBuckets.bucketOf(LatencyBuckets.lowest(bucket))).isEqualTo(bucket);
            assertThat(LatencyBuckets.bucketOf(LatencyBuckets.highest(bucket))).isEqualTo(bucket);
        }
        assertThat(LatencyBuckets.lowest(LatencyBuckets.COUNT - 1)).isEqualTo(LatencyBuckets.LIMIT_NANOS);
    }

    @Test
    void shouldHaveBucketsNoWiderThanAThirtySecondOfWhatIsInThem() {
        for (int bucket = 0; bucket < LatencyBuckets.COUNT - 1; bucket++) {
            long width = LatencyBuckets.highest(bucket) - LatencyBuckets.lowest(bucket) + 1;
            assertThat(width == 1 || width * 32 <= LatencyBuckets.lowest(bucket))
                    .as("bucket %s", bucket)
                    .isTrue();
        }
    }

    @Test
    void shouldCountADurationThatIsNegativeAsNothingAndAnEndlessOneInTheLastBucket() {
        assertThat(LatencyBuckets.bucketOf(-5)).isZero();
        assertThat(LatencyBuckets.bucketOf(Long.MIN_VALUE)).isZero();
        assertThat(LatencyBuckets.bucketOf(Long.MAX_VALUE)).isEqualTo(LatencyBuckets.COUNT - 1);
        assertThat(of(Long.MAX_VALUE).quantileNanos(0.5)).isEqualTo(LatencyBuckets.LIMIT_NANOS);
    }

    @Test
    void shouldTellQuantilesThatAreAtMostAThirtySecondTooLarge() {
        long[] nanos = new long[1000];
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = (long) Math.exp(random.nextDouble(Math.log(100), Math.log(1e10)));
        }
        Latencies latencies = of(nanos);
        Arrays.sort(nanos);
        for (double quantile : new double[] {0.001, 0.5, 0.9, 0.99, 0.999, 1}) {
            long exact = nanos[(int) Math.ceil(quantile * nanos.length) - 1];
            assertThat(latencies.quantileNanos(quantile)).isBetween(exact, exact + exact / 32);
        }
        assertThat(latencies.count()).isEqualTo(1000);
        assertThat(Latencies.NONE.quantileNanos(0.5)).isZero();
    }

    @Test
    void shouldTellHowManyTookAtMostSoLong() {
        Latencies latencies = of(10, 20, 63, 64, 1000, 5_000_000);
        assertThat(latencies.countUpTo(9)).isZero();
        assertThat(latencies.countUpTo(20)).isEqualTo(2);
        assertThat(latencies.countUpTo(63)).isEqualTo(3);
        assertThat(latencies.countUpTo(2000)).isEqualTo(5);
        assertThat(latencies.countUpTo(Long.MAX_VALUE)).isEqualTo(6);
        assertThat(latencies.sumNanos()).isEqualTo(5_001_157);
    }

    @Test
    void shouldAddUp() {
        Latencies sum = of(10, 5_000_000).plus(of(10)).plus(Latencies.NONE);
        assertThat(sum.count()).isEqualTo(3);
        assertThat(sum.sumNanos()).isEqualTo(5_000_020);
        assertThat(sum.countUpTo(10)).isEqualTo(2);
    }

    @Test
    void shouldTellWhatWasAddedSinceAnEarlierState() {
        Latencies earlier = of(10, 20, 3_000_000);
        Latencies added = of(10, 10, 20, 3_000_000, 70_000_000).since(earlier);
        assertThat(added.count()).isEqualTo(2);
        assertThat(added.count(10)).isEqualTo(1);
        assertThat(added.sumNanos()).isEqualTo(70_000_010);
        assertThat(added.quantileNanos(1)).isBetween(70_000_000L, 72_200_000L);
        assertThat(earlier.since(earlier).count()).isZero();
        assertThat(of(20).since(earlier).count()).isEqualTo(1);
    }
}
