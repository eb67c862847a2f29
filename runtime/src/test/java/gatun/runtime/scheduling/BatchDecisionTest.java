// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchDecisionTest {
    private static final long DELAY = 100;

    private static BatchPolicy policy(int maxBatchSize, String preferred, long delayNanos) {
        List<Integer> sizes =
                Arrays.stream(preferred.split(" ", -1)).map(Integer::valueOf).toList();
        return new BatchPolicy(maxBatchSize, sizes, delayNanos, false, QueueCapacities.all(100));
    }

    private static int decide(BatchPolicy policy, String sizes, boolean blocked, long waitedNanos) {
        int[] waiting =
                Arrays.stream(sizes.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
        return BatchDecision.decide(policy, waiting, waiting.length, blocked, waitedNanos);
    }

    @ParameterizedTest(name = "at most {0}, preferring {1}: of {2} send {3}")
    @CsvSource({
        // Everything that fits, and never more.
        "8, 8, 1, 1",
        "8, 8, 1 1 1, 3",
        "8, 8, 1 1 1 1 1 1 1 1 1, 8",
        "8, 8, 3 3 3, 2",
        "8, 8, 8 1, 1",
        "8, 8, 5 4, 1",
        // As much as makes a preferred size, the greatest there is.
        "8, 4, 1 1 1 1 1, 4",
        "8, 2 4, 1 1 1 1 1, 4",
        "8, 2 4, 1 1 1, 2",
        "8, 4, 1 1 1, 3",
        // Before the greatest preferred size is passed without any being met.
        "8, 4, 3 3, 1",
        "8, 4, 3 1 3, 2",
        "8, 4, 5, 1",
        "8, 4, 5 1, 1",
    })
    void shouldSendAtOnceWithoutADelay(int maxBatchSize, String preferred, String sizes, int sent) {
        assertThat(decide(policy(maxBatchSize, preferred, 0), sizes, false, 0)).isEqualTo(sent);
    }

    @ParameterizedTest(name = "preferring {0}: of {1}, blocked {2}, after {3} send {4}")
    @CsvSource({
        "8, 1, false, 0, 0",
        "8, 1 1 1, false, 99, 0",
        "8, 1 1 1, false, 100, 3",
        "8, 1 1 1, true, 0, 3",
        "8, 4 4, false, 0, 2",
        "8, 4 3 2, false, 0, 2",
        "4, 1 1 1 1, false, 0, 4",
        "4, 1 1 1 1 1, false, 0, 4",
        // A delay that is over sends all, preferred or not.
        "4, 1 1 1 1 1, false, 100, 5",
        "2 4, 1 1 1, false, 50, 2",
    })
    void shouldWaitForAPreferredSizeUntilTheDelayIsOver(
            String preferred, String sizes, boolean blocked, long waitedNanos, int sent) {
        assertThat(decide(policy(8, preferred, DELAY), sizes, blocked, waitedNanos))
                .isEqualTo(sent);
    }
}
