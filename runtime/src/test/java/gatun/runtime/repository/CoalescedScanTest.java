// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.repository.RepositoryScan.Finding;
import gatun.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CoalescedScanTest {
    private final AtomicInteger begun = new AtomicInteger();
    private final Semaphore allowed = new Semaphore(0);
    private final CoalescedScan scan = new CoalescedScan(this::scan);

    /** Finds one model, which is called as the number of readings. */
    private SortedMap<ModelIdentifier, Finding> scan() {
        int number = begun.incrementAndGet();
        allowed.acquireUninterruptibly();
        SortedMap<ModelIdentifier, Finding> found = new TreeMap<>();
        found.put(ModelIdentifier.of("m" + number), new Finding.Conflict("none"));
        return found;
    }

    private Thread ask(Queue<String> answers) {
        return Thread.startVirtualThread(
                () -> answers.add(String.valueOf(scan.read().firstKey())));
    }

    private static void awaitParked(List<Thread> threads) {
        Await.until("they wait", () -> threads.stream().allMatch(thread -> thread.getState() == Thread.State.WAITING));
    }

    @Test
    void shouldReadOnceForAllWhoAskMeanwhile() throws InterruptedException {
        Queue<String> first = new ConcurrentLinkedQueue<>();
        Queue<String> others = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>(List.of(ask(first)));
        Await.until("the first reads", () -> begun.get() == 1);
        for (int i = 0; i < 500; i++) {
            threads.add(ask(others));
        }
        awaitParked(threads);
        assertThat(begun).as("readings at once").hasValue(1);

        allowed.release();
        Await.until("the second reads", () -> begun.get() == 2);
        threads.getFirst().join();
        allowed.release();
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(first).containsExactly("m1");
        assertThat(others).as("what was there when they asked").hasSize(500).containsOnly("m2");
        assertThat(begun).hasValue(2);
        allowed.release();
        assertThat(scan.read().firstKey()).hasToString("m3");
    }

    @Test
    void shouldGiveEachAMapOfItsOwn() {
        allowed.release();
        SortedMap<ModelIdentifier, Finding> mine = scan.read();
        mine.clear();
        allowed.release();
        assertThat(scan.read()).hasSize(1);
    }

    @Test
    void shouldReadAgainAfterAFailure() {
        CoalescedScan failing = new CoalescedScan(() -> {
            throw GatunException.invalidArgument("gone " + begun.incrementAndGet());
        });

        assertThatThrownBy(failing::read).isInstanceOf(GatunException.class).hasMessage("gone 1");
        assertThatThrownBy(failing::read).isInstanceOf(GatunException.class).hasMessage("gone 2");
    }
}
