// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.statistics.InstanceCounters.BySize;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BySizeTest {
    private record Counter(int size, AtomicInteger count) {}

    @Test
    void shouldCountSizesBeyondTheMostWithTheNextSmallerOne() {
        BySize<Counter> counters = new BySize<>(size -> new Counter(size, new AtomicInteger()), Counter::size);
        for (int size = 1; size <= 2 * BySize.MOST_SIZES; size++) {
            counters.of(size).count().incrementAndGet();
        }
        List<Counter> counted = counters.snapshots(counter -> counter);
        assertThat(counted).hasSize(BySize.MOST_SIZES);
        assertThat(counted.getLast().count()).hasValue(1 + BySize.MOST_SIZES);
        assertThat(counters.of(7).size()).isEqualTo(7);
    }
}
