// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.CacheStatistics;
import gatun.runtime.ResponseStatistics;
import gatun.wire.inference.InferResponseStatistics;
import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.StatisticDuration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StatisticsMessagesTest {
    private static gatun.wire.inference.ModelStatistics message(
            CacheStatistics cache, ResponseStatistics... responses) {
        ModelStatistics model = new ModelStatistics(
                "m",
                "1",
                new ModelStatistics.Totals(
                        10,
                        6,
                        new ModelStatistics.Failures(0, 0, 0, 0, 0),
                        new ModelStatistics.StageNanos(100, 30, 25, 27, 18),
                        0,
                        ModelStatistics.Occupancy.NONE,
                        0),
                List.of(),
                List.of(responses),
                List.of(),
                Optional.of(cache));
        return StatisticsMessages.of(List.of(model)).getModelStats(0);
    }

    private static StatisticDuration duration(long count, long nanos) {
        return StatisticDuration.newBuilder().setCount(count).setNs(nanos).build();
    }

    @Test
    void shouldTellHitsAndMissesAndNotCountHitsAsComputed() {
        InferStatistics times = message(new CacheStatistics(4, 40, 6, 60)).getInferenceStats();
        assertThat(times.getCacheHit()).isEqualTo(duration(4, 40));
        assertThat(times.getCacheMiss()).isEqualTo(duration(6, 60));
        assertThat(times.getSuccess()).isEqualTo(duration(10, 100));
        assertThat(times.getQueue()).isEqualTo(duration(10, 30));
        assertThat(times.getComputeInput()).isEqualTo(duration(6, 25));
        assertThat(times.getComputeInfer()).isEqualTo(duration(6, 27));
        assertThat(times.getComputeOutput()).isEqualTo(duration(6, 18));
    }

    @Test
    void shouldTellTheResponsesOfADecoupledModelByTheirPlace() {
        gatun.wire.inference.ModelStatistics message = message(
                CacheStatistics.NONE,
                new ResponseStatistics(
                        new ResponseStatistics.Total(4, 11),
                        new ResponseStatistics.Total(3, 12),
                        new ResponseStatistics.Total(2, 23),
                        new ResponseStatistics.Total(0, 0),
                        new ResponseStatistics.Total(0, 0),
                        new ResponseStatistics.Total(0, 0)),
                new ResponseStatistics(
                        ResponseStatistics.Total.NONE,
                        ResponseStatistics.Total.NONE,
                        ResponseStatistics.Total.NONE,
                        new ResponseStatistics.Total(1, 13),
                        new ResponseStatistics.Total(2, 14),
                        new ResponseStatistics.Total(5, 15)));
        assertThat(message.getResponseStatsMap()).containsOnlyKeys("0", "1");
        InferResponseStatistics first = message.getResponseStatsOrThrow("0");
        assertThat(first.getComputeInfer()).isEqualTo(duration(4, 11));
        assertThat(first.getComputeOutput()).isEqualTo(duration(3, 12));
        assertThat(first.getSuccess()).isEqualTo(duration(2, 23));
        InferResponseStatistics second = message.getResponseStatsOrThrow("1");
        assertThat(second.getFail()).isEqualTo(duration(1, 13));
        assertThat(second.getEmptyResponse()).isEqualTo(duration(2, 14));
        assertThat(second.getCancel()).isEqualTo(duration(5, 15));
    }
}
