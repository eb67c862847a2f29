// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import static gatun.bench.load.StoppingRule.Verdict.CONTINUE;
import static gatun.bench.load.StoppingRule.Verdict.STABLE;
import static gatun.bench.load.StoppingRule.Verdict.UNSTABLE;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.bench.load.Window.ClientCost;
import gatun.bench.load.Window.Problems;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class StoppingRuleTest {
    private static final StoppingRule AVERAGE = new StoppingRule(0.1, OptionalDouble.empty(), 5);

    @Test
    void shouldStopWhenThreeWindowsAreAlike() {
        assertThat(AVERAGE.decide(List.of(window(1000, 1000), window(1050, 1020))))
                .isEqualTo(CONTINUE);
        assertThat(AVERAGE.decide(List.of(window(1000, 1000), window(1050, 1020), window(980, 990))))
                .isEqualTo(STABLE);
    }

    @Test
    void shouldLookAtTheLastThreeOnly() {
        assertThat(AVERAGE.decide(
                        List.of(window(10, 90_000), window(1000, 1000), window(1050, 1020), window(980, 990))))
                .isEqualTo(STABLE);
    }

    @Test
    void shouldGoOnWhileThroughputOrLatencyDiffer() {
        assertThat(AVERAGE.decide(List.of(window(1000, 1000), window(2000, 1000), window(1000, 1000))))
                .isEqualTo(CONTINUE);
        assertThat(AVERAGE.decide(List.of(window(1000, 1000), window(1000, 2000), window(1000, 1000))))
                .isEqualTo(CONTINUE);
    }

    @Test
    void shouldGiveUpAfterTheLastWindow() {
        Window calm = window(1000, 1000);
        Window wild = window(1000, 5000);
        assertThat(AVERAGE.decide(List.of(calm, wild, calm, wild, calm))).isEqualTo(UNSTABLE);
    }

    @Test
    void shouldNotTakeSilenceForStability() {
        Window silent = window(0, 0);
        assertThat(AVERAGE.decide(List.of(silent, silent, silent))).isEqualTo(CONTINUE);
    }

    @Test
    void shouldLookAtThePercentileThatIsAskedFor() {
        StoppingRule p99 = new StoppingRule(0.1, OptionalDouble.of(99), 5);
        Window tail = window(1000, 1000);
        tail.latencies().recordValueWithCount(50_000, 20);
        assertThat(AVERAGE.latencyNanos(tail)).isLessThan(2000);
        assertThat(p99.latencyNanos(tail)).isGreaterThan(49_000);
        assertThat(p99.decide(List.of(window(1020, 1000), tail, window(1020, 1000))))
                .isEqualTo(CONTINUE);
    }

    private static Window window(long requests, long latencyNanos) {
        Histogram latencies = new Histogram(3);
        latencies.recordValueWithCount(latencyNanos, requests);
        return new Window(1_000_000_000, latencies, Problems.NONE, 0, 0, ClientCost.NONE, Optional.empty());
    }
}
