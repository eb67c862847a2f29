// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ThreadPlanTest {
    private static final String IDLENESS = "they sleep";

    private static ThreadPlan adaptive(int cores, int instances) {
        return ThreadPlan.of(cores, instances, 1, true, true, true);
    }

    /** Those that a session has beside its callers. */
    private static int own(int threads) {
        return threads - 1;
    }

    @TestFactory
    Stream<DynamicTest> shouldComputeOnAllCoresAndNoMore() {
        return Stream.of(1, 2, 4, 16, 64).flatMap(cores -> Stream.of(1, 2, 4, 8)
                .map(instances -> DynamicTest.dynamicTest(
                        cores + " cores, " + instances + " instances", () -> sumsShouldBe(cores, instances))));
    }

    private static void sumsShouldBe(int cores, int instances) {
        for (boolean isAdaptive : new boolean[] {true, false}) {
            for (boolean isSmall : new boolean[] {true, false}) {
                for (boolean divides : new boolean[] {true, false}) {
                    ThreadPlan plan = ThreadPlan.of(cores, instances, 1, isAdaptive, isSmall, divides);
                    // Those of a single instance are never beside one another.
                    int besideOthers = instances == 1 ? plan.alone() : plan.together();
                    assertThat(own(besideOthers) + instances)
                            .as("all instances busy: %s", plan)
                            .isEqualTo(Math.max(cores, instances));
                    if (plan.parts() > 1) {
                        assertThat(own(plan.together()) + plan.parts())
                                .as("parts of a batch: %s", plan)
                                .isEqualTo(cores);
                    }
                    if (isAdaptive) {
                        assertThat(plan.alone()).as("a lone run: %s", plan).isBetween((3 * cores + 3) / 4, cores);
                    } else {
                        assertThat(plan.alone()).as("one session: %s", plan).isEqualTo(plan.together());
                        assertThat(plan.parts()).as("not divided: %s", plan).isEqualTo(1);
                    }
                }
            }
        }
    }

    @Test
    void shouldHaveTheWeightsTwiceWhereALoneRunGainsByIt() {
        assertThat(adaptive(2, 2)).isEqualTo(new ThreadPlan(2, 2, 1, 2, 1, 2));
        assertThat(adaptive(4, 2)).isEqualTo(new ThreadPlan(4, 2, 1, 3, 3, 2));
        assertThat(adaptive(16, 2)).isEqualTo(new ThreadPlan(16, 2, 1, 15, 15, 2));
        assertThat(adaptive(16, 8)).isEqualTo(new ThreadPlan(16, 8, 1, 16, 9, 8));
        assertThat(adaptive(64, 8)).isEqualTo(new ThreadPlan(64, 8, 1, 57, 57, 8));
        assertThat(adaptive(2, 8)).isEqualTo(new ThreadPlan(2, 8, 1, 2, 1, 2));
        assertThat(adaptive(1, 2)).isEqualTo(new ThreadPlan(1, 2, 1, 1, 1, 1));
    }

    @Test
    void shouldHaveTheWeightsOfOneInstanceTwiceWhereTheyAreSmallAndOfUse() {
        assertThat(ThreadPlan.of(2, 1, 1, true, true, false)).isEqualTo(new ThreadPlan(2, 1, 1, 2, 1, 1));
        assertThat(ThreadPlan.of(16, 1, 1, true, true, false)).isEqualTo(new ThreadPlan(16, 1, 1, 16, 9, 1));
        assertThat(ThreadPlan.of(64, 1, 1, true, true, true)).isEqualTo(new ThreadPlan(64, 1, 1, 64, 57, 8));
        assertThat(ThreadPlan.of(64, 1, 1, true, true, false))
                .as("57 threads are hardly another way than 64")
                .isEqualTo(new ThreadPlan(64, 1, 1, 64, 64, 1));
        assertThat(ThreadPlan.of(2, 1, 1, true, false, true))
                .as("larger weights")
                .isEqualTo(new ThreadPlan(2, 1, 1, 2, 2, 1));
    }

    @Test
    void shouldGiveEachProcessItsShare() {
        for (int instances : new int[] {2, 4, 8}) {
            ThreadPlan plan = ThreadPlan.of(16, instances, instances, true, true, true);
            assertThat(instances * plan.together()).as("all busy: %s", plan).isEqualTo(16);
            assertThat(plan.alone()).as("a lone run: %s", plan).isEqualTo(16);
            assertThat(own(plan.together()) + plan.parts())
                    .as("parts: %s", plan)
                    .isEqualTo(16);
            assertThat(ThreadPlan.of(16, instances, instances, false, true, true)
                            .alone())
                    .as("one session")
                    .isEqualTo(16 / instances);
        }
        assertThat(ThreadPlan.of(2, 4, 4, true, true, true)).isEqualTo(new ThreadPlan(2, 4, 4, 2, 1, 2));
        assertThat(ThreadPlan.of(16, 2, 2, false, true, true).text(IDLENESS))
                .containsExactly("threads of a run: 8, of 16 cores for 2 instances; they sleep");
    }

    @Test
    void shouldSayWhatItIs() {
        assertThat(adaptive(2, 2).text(IDLENESS))
                .containsExactly(
                        "threads of a run: 2 alone, 1 beside others, of 2 cores for 2 instances; they sleep",
                        "a run alone may also be made on 1 thread, or in up to 2 parts, where it is a batch of several"
                                + " requests: whichever was fastest for runs of its size");
        assertThat(ThreadPlan.of(16, 2, 1, false, true, true).text(IDLENESS))
                .containsExactly("threads of a run: 15, of 16 cores for 2 instances, which share them; they sleep");
        assertThat(ThreadPlan.of(2, 1, 1, true, true, false).text(IDLENESS))
                .containsExactly(
                        "threads of a run: 2, of 2 cores for 1 instance; they sleep",
                        "a run alone may also be made on 1 thread: whichever was fastest for runs of its size");
        assertThat(ThreadPlan.of(2, 4, 1, false, true, true).text(IDLENESS))
                .isEqualTo(List.of("threads of a run: 1, of 2 cores for 4 instances"));
        assertThat(adaptive(1, 2).text(IDLENESS)).containsExactly("threads of a run: 1, of 1 core for 2 instances");
    }
}
