// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PendingQueueTest {
    private static final int COUNT = 100_000;

    private final PendingQueue<Job> queue = new PendingQueue<>(QueueCapacities.all(10), false);

    private static final class Job extends PendingRequest {
        Job(long level) {
            limitWait(level, 0, false);
        }
    }

    private Job add(long level) {
        Job job = new Job(level);
        queue.add(job);
        return job;
    }

    private void take(Job job) {
        assertThat(queue.remove(job)).isTrue();
        job.become(PendingRequest.State.RUNNING);
    }

    @Test
    void shouldKeepNothingOfLevelsInWhichNothingWaits() {
        List<Job> jobs = new ArrayList<>();
        for (long i = 0; i < COUNT; i++) {
            jobs.add(add(1 + i * (-1L >>> 17))); // the last third beyond 2^63
        }
        assertThat(queue.levelCount()).isEqualTo(COUNT);
        Collections.shuffle(jobs, new Random(1));
        List<Job> leaving = jobs.subList(0, COUNT / 2);
        leaving.forEach(this::take);
        leaving.clear();
        assertThat(queue.levelCount()).as("those that others left").isEqualTo(jobs.size());

        jobs.sort((a, b) -> Long.compareUnsigned(a.level(), b.level()));
        for (Job job : jobs) {
            assertThat(queue.first()).isSameAs(job);
            take(job);
        }

        assertThat(queue.first()).isNull();
        assertThat(queue.size()).isZero();
        assertThat(queue.levelCount()).as("kept for the next one").isOne();
    }

    @Test
    void shouldLetRequestsWaitInSoManyLevelsAtATime() {
        Job first = add(1);
        for (long i = 2; i <= PendingQueue.LEVEL_LIMIT; i++) {
            add(i);
        }
        assertThat(queue.isFull(new Job(-1))).as("a level more").isTrue();
        assertThat(queue.isFull(new Job(2))).as("a level in use").isFalse();
        take(first);
        assertThat(queue.isFull(new Job(-1))).as("one level less").isFalse();
    }

    @Test
    void shouldKeepOneLevelWhenEachRequestNamesAnother() {
        for (long level = 0; level < COUNT; level++) {
            Job job = add(level);
            assertThat(queue.levelCount()).isOne();
            take(job);
        }
        assertThat(queue.levelCount()).isOne();
    }

    @Test
    void shouldGoThroughTheLevelsInTheOrderOfTheirNumbers() {
        Job least = add(-1);
        Job middle = add(4_294_967_296L);
        Job late = add(1);
        Job urgent = add(1);
        queue.delay(late);

        List<Job> order = new ArrayList<>();
        for (Job job = queue.first(); job != null; job = queue.after(job)) {
            order.add(job);
        }

        assertThat(order).containsExactly(urgent, late, middle, least);
    }

    @Test
    void shouldCountEachLevelForItself() {
        PendingQueue<Job> bounded = new PendingQueue<>(new QueueCapacities(1, Map.of(7L, 2)), false);
        bounded.add(new Job(7));
        bounded.add(new Job(3));

        assertThat(bounded.isFull(new Job(3))).isTrue();
        assertThat(bounded.isFull(new Job(7))).isFalse();
        assertThat(bounded.isFull(new Job(-1))).isFalse();
        bounded.add(new Job(7));
        assertThat(bounded.isFull(new Job(7))).isTrue();
    }
}
