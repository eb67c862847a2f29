// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bench.load.ServerCounters.ServerTimes;
import gatun.bench.load.Window.ClientCost;
import gatun.bench.load.Window.Problems;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class WindowTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void shouldPutWindowsTogether() {
        Window sum = window(100, 1000, Map.of("a", 1L), Optional.of(counters(10)))
                .plus(window(300, 5000, Map.of("a", 2L, "b", 3L), Optional.of(counters(20))));
        assertThat(sum.answered()).isEqualTo(400);
        assertThat(sum.perSecond()).isEqualTo(200);
        assertThat(sum.problems().failures()).isEqualTo(Map.of("a", 3L, "b", 3L));
        assertThat(sum.problems().failed()).isEqualTo(6);
        assertThat(sum.percentileNanos(10)).isEqualTo(1000);
        assertThat(sum.tensorBytesPerSecond()).isEqualTo(64);
        assertThat(sum.cost()).isEqualTo(new ClientCost(20, 40, 60));
        assertThat(sum.server()).contains(counters(30));
    }

    @Test
    void shouldBeginWithNothing() {
        Window window = window(100, 1000, Map.of(), Optional.of(counters(10)));
        assertThat(Window.empty().plus(window)).isEqualTo(window);
        assertThat(Window.empty().perSecond()).isZero();
        assertThat(Window.empty().averageNanos()).isZero();
        assertThat(Window.empty().percentileNanos(99)).isZero();
    }

    @Test
    void shouldHaveNoCountersOfTheServerWhereOneWindowHasNone() {
        assertThat(window(1, 1000, Map.of(), Optional.of(counters(10)))
                        .plus(window(1, 1000, Map.of(), Optional.empty()))
                        .server())
                .isEmpty();
    }

    @Test
    void shouldTellTimesPerRequest() {
        assertThat(counters(10).perRequest(500)).isEqualTo(50);
        assertThat(counters(10).since(counters(10)).perRequest(500)).isZero();
    }

    private static ServerCounters counters(long each) {
        return new ServerCounters(each, each, each, each, new ServerTimes(each, each, each, each, each));
    }

    private static Window window(
            long requests, long latencyNanos, Map<String, Long> failures, Optional<ServerCounters> server) {
        Histogram latencies = new Histogram(3);
        latencies.recordValueWithCount(latencyNanos, requests);
        return new Window(
                SECOND, latencies, new Problems(failures, Map.of()), 64, 5, new ClientCost(10, 20, 30), server);
    }
}
