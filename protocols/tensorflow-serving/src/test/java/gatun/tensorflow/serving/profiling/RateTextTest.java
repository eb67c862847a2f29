// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.profiling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.Failures;
import gatun.runtime.ModelStatistics.Occupancy;
import gatun.runtime.ModelStatistics.StageNanos;
import gatun.runtime.ModelStatistics.Totals;
import java.time.LocalTime;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RateTextTest {
    private static ModelStatistics model(String name, long answered, long failed) {
        StageNanos nanos =
                new StageNanos(9_000_000 * answered, 2_000_000 * answered, 500_000 * answered, 3_000_000 * answered, 0);
        Totals totals =
                new Totals(answered, 4 * answered, new Failures(failed, 0, 0, 0, 0), nanos, 0, Occupancy.NONE, 0);
        return new ModelStatistics(name, "1", totals, List.of(), List.of(), List.of(), Optional.empty());
    }

    @Test
    void shouldTellWhatModelsDidBetweenTwoReadings() {
        String text = RateText.of(
                List.of(model("busy", 10, 0), model("idle", 7, 1)),
                List.of(model("busy", 20, 4), model("idle", 7, 1), model("new", 2, 0)),
                2,
                true,
                Optional.of(LocalTime.of(9, 8, 7)));
        assertThat(text).isEqualTo("""
                        Timestamp: 09:08:07
                        all models: 6.0 requests/s, 24.0 inferences/s, 2.0 failures/s, queue 2.000 ms, compute 3.500 ms
                        busy/1: 5.0 requests/s, 20.0 inferences/s, 2.0 failures/s, queue 2.000 ms, compute 3.500 ms
                        new/1: 1.0 requests/s, 4.0 inferences/s, 0.0 failures/s, queue 2.000 ms, compute 3.500 ms
                        """);
    }

    @Test
    void shouldTakeCountersThatBeganAnewAsTheyAre() {
        String text = RateText.of(List.of(model("m", 100, 5)), List.of(model("m", 3, 0)), 1, false, Optional.empty());
        assertThat(text)
                .isEqualTo("all models: 3.0 requests/s, 12.0 inferences/s, 0.0 failures/s, queue 2.000 ms,"
                        + " compute 3.500 ms\n");
    }
}
