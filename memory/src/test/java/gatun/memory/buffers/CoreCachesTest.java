// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.BufferBlocks.BufferTable;
import gatun.memory.buffers.CoreCaches.BufferStack;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Buffers and bytes here are of 64 cores, whatever this machine has. */
@Timeout(60)
class CoreCachesTest {
    private static final int CORES = 64;
    private static final int SHIFT = 10;
    private static final int BYTES = 1 << SHIFT;
    private static final long LIMIT = 1 << 20;

    private final BufferTable table = new BufferTable();
    private final BufferStack[] stacks = new BufferStack[Long.SIZE];
    private final AtomicInteger unmapped = new AtomicInteger();
    private final CoreCaches caches = new CoreCaches(CORES, LIMIT, table, stacks, unmapped::incrementAndGet);

    CoreCachesTest() {
        for (int i = 0; i < stacks.length; i++) {
            stacks[i] = new BufferStack();
        }
    }

    /** A buffer that is lent and charged. */
    private Buffer lent(int shift, long charge) {
        assertThat(caches.charge(charge, LIMIT)).isTrue();
        Buffer buffer = new Buffer((idle, charged) -> {}, table.reserve(), shift, 0, 0, null);
        table.put(buffer);
        return buffer;
    }

    private Buffer kept(int core) {
        Buffer buffer = lent(SHIFT, BYTES);
        assertThat(caches.keep(core, buffer, BYTES)).isTrue();
        return buffer;
    }

    @Test
    void shouldLendACoreWhatItGaveBackLastAndCountItOnlyWhileItIsLent() {
        Buffer buffer = kept(3);
        assertThat(caches.lentBytes()).isZero();
        assertThat(caches.countedBytes()).isEqualTo(BYTES);
        assertThat(caches.take(4, SHIFT, BYTES, LIMIT)).as("another core").isNull();
        assertThat(caches.take(3, SHIFT - 1, BYTES, LIMIT)).as("another size").isNull();
        assertThat(caches.take(3, SHIFT, BYTES, LIMIT)).isSameAs(buffer);
        assertThat(caches.lentBytes()).isEqualTo(BYTES);
        assertThat(caches.take(3, SHIFT, BYTES, LIMIT)).isNull();
    }

    @Test
    void shouldCountWhatALoanIsLargerOrSmallerThanTheOneBefore() {
        Buffer buffer = kept(0);
        assertThat(caches.take(0, SHIFT, 768, LIMIT)).isSameAs(buffer);
        assertThat(caches.lentBytes()).isEqualTo(768);
        assertThat(caches.countedBytes()).as("the rest is stored").isEqualTo(BYTES);
        assertThat(caches.keep(0, buffer, 768)).isTrue();
        assertThat(caches.lentBytes()).isZero();
        assertThat(caches.take(0, SHIFT, BYTES, LIMIT)).isSameAs(buffer);
        assertThat(caches.lentBytes()).isEqualTo(BYTES);
        assertThat(caches.countedBytes()).as("from the store").isEqualTo(BYTES);
    }

    @Test
    void shouldNotLendAnIdleBufferWhereItsMoreBytesHaveNoRoom() {
        Buffer small = lent(SHIFT, 768);
        assertThat(caches.keep(0, small, 768)).isTrue();
        assertThat(caches.charge(LIMIT - 768, LIMIT)).isTrue();
        assertThat(caches.take(0, SHIFT, BYTES, LIMIT)).isNull();
        assertThat(caches.lentBytes()).isEqualTo(LIMIT - 768);
        assertThat(stacks[SHIFT].pop(table)).as("for whoever needs less").isSameAs(small);
    }

    @Test
    void shouldRefuseNobodyBecauseOfWhatCoresKeep() {
        List<Buffer> idle = new ArrayList<>();
        for (int core = 0; core < CORES; core++) {
            idle.add(kept(core));
        }
        assertThat(caches.charge(LIMIT, LIMIT)).isTrue();
        assertThat(caches.lentBytes()).isEqualTo(LIMIT);
        assertThat(caches.charge(1, LIMIT)).isFalse();
        List<Buffer> shared = new ArrayList<>();
        for (Buffer buffer = stacks[SHIFT].pop(table); buffer != null; buffer = stacks[SHIFT].pop(table)) {
            shared.add(buffer);
        }
        assertThat(shared).as("for every core").containsExactlyInAnyOrderElementsOf(idle);
    }

    @Test
    void shouldKeepNothingBeforeThePoolIsHalfEmptyAgain() {
        Buffer buffer = lent(SHIFT, BYTES);
        assertThat(caches.charge(LIMIT - BYTES, LIMIT)).isTrue();
        assertThat(caches.charge(1, LIMIT)).isFalse();
        assertThat(caches.keep(0, buffer, BYTES)).isFalse();
        caches.uncharge(LIMIT - BYTES);
        assertThat(caches.keep(0, buffer, BYTES)).isTrue();
        assertThat(caches.lentBytes()).isZero();
    }

    @Test
    void shouldKeepAFewBuffersOfASizeAndNoLargeOnes() {
        int count = 0;
        while (caches.keep(0, lent(SHIFT, BYTES), BYTES)) {
            count++;
        }
        assertThat(count).isEqualTo(4);
        Buffer large = lent(CoreCaches.LARGEST_SHIFT + 1, 2 * BYTES);
        assertThat(caches.keep(0, large, 2 * BYTES)).isFalse();
    }

    @Test
    void shouldGiveABufferOfAnotherCoreToWhoeverFindsNone() {
        Buffer buffer = kept(CORES - 1);
        assertThat(caches.charge(BYTES, LIMIT)).as("the thief's").isTrue();
        assertThat(caches.steal(SHIFT)).isSameAs(buffer);
        assertThat(caches.lentBytes()).isEqualTo(BYTES);
        assertThat(caches.countedBytes()).isEqualTo(BYTES);
        assertThat(caches.steal(SHIFT)).isNull();
    }

    @Test
    void shouldSayWhenTheLastBufferOfAClosedPoolIsBack() {
        kept(0);
        Buffer last = lent(SHIFT, BYTES);
        caches.close();
        assertThat(unmapped).hasValue(0);
        assertThat(caches.lentBytes()).isEqualTo(BYTES);
        assertThat(caches.take(0, SHIFT, BYTES, LIMIT)).isNull();
        assertThat(caches.charge(1, LIMIT)).isFalse();
        assertThat(caches.keep(0, last, BYTES)).isFalse();
        caches.uncharge(BYTES);
        assertThat(unmapped).hasValue(1);
    }

    @Test
    void shouldSayAtOnceThatAClosedPoolHasLentNothing() {
        kept(0);
        caches.close();
        assertThat(unmapped).hasValue(1);
    }

    @Test
    void shouldKeepNothingWhereAllThreadsShareOneCore() {
        CoreCaches one = new CoreCaches(1, LIMIT, table, stacks, () -> {});
        Buffer buffer = lent(SHIFT, BYTES);
        assertThat(one.charge(BYTES, LIMIT)).isTrue();
        assertThat(one.keep(0, buffer, BYTES)).isFalse();
        assertThat(one.take(0, SHIFT, BYTES, LIMIT)).isNull();
        assertThat(one.lentBytes()).isEqualTo(BYTES);
    }

    @Test
    void shouldFindAllRoomWhileOthersTakeAndGiveBack() throws Exception {
        int threadCount = 3;
        long others = threadCount * (long) BYTES;
        AtomicBoolean stop = new AtomicBoolean();
        try (ExecutorService threads = Executors.newFixedThreadPool(threadCount)) {
            List<Future<?>> results = new ArrayList<>();
            for (int t = 0; t < threadCount; t++) {
                Random random = new Random(t);
                Buffer first = lent(SHIFT, BYTES);
                results.add(threads.submit(() -> takeAndKeep(first, random, stop)));
            }
            for (int round = 0; round < 20_000; round++) {
                assertThat(caches.charge(LIMIT - others, LIMIT))
                        .as("round %d", round)
                        .isTrue();
                caches.uncharge(LIMIT - others);
            }
            stop.set(true);
            for (Future<?> result : results) {
                result.get(30, TimeUnit.SECONDS);
            }
        }
        assertThat(caches.lentBytes()).isZero();
        caches.empty();
        assertThat(caches.countedBytes()).isZero();
    }

    /** Gives a buffer back and takes one, of changing sizes and on changing cores; never has more than one. */
    private void takeAndKeep(Buffer first, Random random, AtomicBoolean stop) {
        Buffer buffer = first;
        long charge = BYTES;
        while (true) {
            if (!caches.keep(random.nextInt(CORES), buffer, charge)) {
                stacks[SHIFT].push(buffer);
                caches.uncharge(charge);
            }
            if (stop.get()) {
                return;
            }
            charge = BYTES / 2 + 256L * (1 + random.nextInt(2));
            Buffer taken = caches.take(random.nextInt(CORES), SHIFT, charge, LIMIT);
            if (taken == null) {
                assertThat(caches.charge(charge, LIMIT)).as("its own share").isTrue();
            }
            // There are as many buffers as threads; one may be on its way.
            while (taken == null) {
                Buffer shared = stacks[SHIFT].pop(table);
                taken = shared == null ? caches.steal(SHIFT) : shared;
            }
            buffer = taken;
        }
    }
}
