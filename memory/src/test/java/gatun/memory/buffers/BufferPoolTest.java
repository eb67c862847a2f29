// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.BufferBlocks.BufferTable;
import gatun.memory.buffers.CoreCaches.BufferStack;
import gatun.memory.regions.Mappings;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class BufferPoolTest {
    private static final long MIB = 1 << 20;

    @Test
    void shouldLendExactSizesAlignedTo64() {
        try (BufferPool pool = new BufferPool(64 * MIB)) {
            for (long byteSize : new long[] {0, 1, 64, 255, 256, 257, 4096, 65_535, 65_536, 65_537, MIB, 3 * MIB + 1}) {
                try (Buffer buffer = pool.take(byteSize)) {
                    assertThat(buffer.segment().byteSize()).isEqualTo(byteSize);
                    assertThat(buffer.byteSize()).isEqualTo(byteSize);
                    assertThat(buffer.address() % 64).isZero();
                    assertThat(buffer.segment().address()).isEqualTo(buffer.address());
                    buffer.segment().fill((byte) 1);
                }
                assertThat(pool.usedBytes()).isZero();
            }
        }
    }

    @Test
    void shouldLendTheSameMemoryAgain() {
        try (BufferPool pool = new BufferPool(MIB)) {
            long first;
            try (Buffer buffer = pool.take(100_000)) {
                first = buffer.address();
            }
            try (Buffer buffer = pool.take(90_000)) {
                assertThat(buffer.address()).isEqualTo(first);
            }
        }
    }

    @Test
    void shouldCountWhatIsLentRoundedUpTo256() {
        try (BufferPool pool = new BufferPool(MIB)) {
            assertThat(pool.byteLimit()).isEqualTo(MIB);
            Buffer small = pool.take(1);
            assertThat(pool.usedBytes()).isEqualTo(256);
            Buffer large = pool.take(70_000);
            assertThat(pool.usedBytes()).isEqualTo(256 + 70_144);
            small.close();
            large.close();
            assertThat(pool.usedBytes()).isZero();
        }
    }

    @Test
    void shouldRefuseWithoutWaitingWhenTheLimitIsReached() {
        try (BufferPool pool = new BufferPool(MIB)) {
            try (Buffer half = pool.take(MIB / 2);
                    Buffer otherHalf = pool.take(MIB / 2)) {
                assertThat(half.address()).isNotEqualTo(otherHalf.address());
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> pool.take(1))
                        .withMessage("the buffer pool has no 1 bytes left of its 1048576; try again later")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
                assertThat(pool.usedBytes()).isEqualTo(MIB);
            }
            try (Buffer whole = pool.take(MIB)) {
                assertThat(whole.byteSize()).isEqualTo(MIB);
            }
        }
    }

    @Test
    void shouldSayThatASizeAboveTheLimitNeverFits() {
        try (BufferPool pool = new BufferPool(1000, "--pool-bytes")) {
            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> pool.take(1001))
                    .withMessage("a buffer of 1001 bytes is more than the pool's limit of 1000 bytes; start the server"
                            + " with a larger --pool-bytes")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            assertThatIllegalArgumentException().isThrownBy(() -> pool.take(-1));
            try (Buffer all = pool.take(1000)) {
                assertThat(all.byteSize()).isEqualTo(1000);
            }
        }
        assertThatIllegalArgumentException().isThrownBy(() -> new BufferPool(0));
    }

    @Test
    void shouldLendMessagesOfTwoGibibytesWhenTheLimitAllows() {
        long byteSize = Integer.MAX_VALUE;
        try (BufferPool pool = new BufferPool(5L << 30);
                Buffer first = pool.take(byteSize);
                Buffer second = pool.take(byteSize)) {
            for (Buffer buffer : List.of(first, second)) {
                buffer.segment().set(ValueLayout.JAVA_BYTE, byteSize - 1, (byte) 5);
                assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, byteSize - 1))
                        .isEqualTo((byte) 5);
            }
        }
    }

    @Test
    void shouldTurnIdleSmallBuffersIntoALargeOne() {
        try (BufferPool pool = new BufferPool(4 * MIB)) {
            for (int byteSize : new int[] {256, 2048, 32_768, 65_536, 524_288}) {
                List<Buffer> all = new ArrayList<>();
                while (pool.usedBytes() + byteSize <= pool.byteLimit()) {
                    all.add(pool.take(byteSize));
                }
                all.forEach(Buffer::close);
            }
            try (Buffer whole = pool.take(4 * MIB)) {
                whole.segment().fill((byte) 3);
                assertThat(pool.usedBytes()).isEqualTo(4 * MIB);
            }
            try (Buffer small = pool.take(256)) {
                assertThat(small.byteSize()).isEqualTo(256);
            }
        }
    }

    @Test
    void shouldKeepSmallBuffersThatAreLentWhileOthersAreJoined() {
        try (BufferPool pool = new BufferPool(2 * MIB)) {
            List<Buffer> kept = new ArrayList<>();
            List<Buffer> returned = new ArrayList<>();
            for (int i = 0; i < 4000; i++) {
                Buffer buffer = pool.take(256);
                buffer.segment().fill((byte) i);
                (i % 500 == 0 ? kept : returned).add(buffer);
            }
            returned.forEach(Buffer::close);
            try (Buffer large = pool.take(MIB)) {
                large.segment().fill((byte) 0x55);
                for (int i = 0; i < kept.size(); i++) {
                    assertThat(kept.get(i).segment().toArray(ValueLayout.JAVA_BYTE))
                            .containsOnly((byte) (i * 500));
                }
            }
            kept.forEach(Buffer::close);
            assertThat(pool.usedBytes()).isZero();
        }
    }

    @Test
    void shouldGiveTheMemoryOfLargeBuffersBackThatStayIdle() {
        try (BufferPool pool = new BufferPool(64 * MIB)) {
            Buffer used = pool.take(2 * MIB);
            try (Buffer cold = pool.take(2 * MIB)) {
                cold.segment().fill((byte) 1);
            }
            used.segment().fill((byte) 2);
            pool.trim();
            used.close();
            // Idle through a whole round by now, unlike the other.
            pool.trim();
            try (Buffer warm = pool.take(2 * MIB);
                    Buffer fresh = pool.take(2 * MIB)) {
                assertThat(warm.segment().get(ValueLayout.JAVA_BYTE, MIB)).isEqualTo((byte) 2);
                assertThat(fresh.segment().get(ValueLayout.JAVA_BYTE, MIB)).isZero();
            }
        }
    }

    @Test
    void shouldLendAllMemoryAgainAfterTrimming() {
        try (BufferPool pool = new BufferPool(8 * MIB)) {
            for (int round = 0; round < 3; round++) {
                for (int shift = 20; shift <= 23; shift++) {
                    List<Buffer> all = new ArrayList<>();
                    while (pool.usedBytes() < pool.byteLimit()) {
                        all.add(pool.take(1L << shift));
                    }
                    all.forEach(Buffer::close);
                    pool.trim();
                }
                pool.trim();
                pool.trim();
            }
            assertThat(pool.usedBytes()).isZero();
        }
    }

    @Test
    void shouldCopyASegment() {
        try (BufferPool pool = new BufferPool(MIB);
                Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocateFrom("strings");
            try (Buffer copy = pool.copyOf(source)) {
                source.fill((byte) 0);
                assertThat(copy.segment().getString(0)).isEqualTo("strings");
            }
            assertThat(pool.usedBytes()).isZero();
        }
    }

    @Test
    void shouldGrowABufferByDoublingAndKeepWhatWasUsed() {
        try (BufferPool pool = new BufferPool(MIB)) {
            Buffer small = pool.take(1000);
            small.segment().set(ValueLayout.JAVA_BYTE, 699, (byte) 7);
            assertThat(pool.grow(small, 700, 1000)).isSameAs(small);

            Buffer larger = pool.grow(small, 700, 1001);
            assertThat(larger.byteSize()).isEqualTo(2000);
            assertThat(larger.segment().get(ValueLayout.JAVA_BYTE, 699)).isEqualTo((byte) 7);
            assertThat(pool.usedBytes()).as("the small one is back").isEqualTo(2048);

            Buffer much = pool.grow(larger, 700, 300_000);
            assertThat(much.byteSize()).isEqualTo(300_000);
            assertThatThrownBy(() -> pool.grow(much, 700, 2 * MIB))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            assertThat(much.segment().get(ValueLayout.JAVA_BYTE, 699))
                    .as("still ours")
                    .isEqualTo((byte) 7);
            much.close();
            assertThat(pool.usedBytes()).isZero();
        }
    }

    @Test
    void shouldFindUseAfterCloseAndDoubleCloseWhenAssertionsAreEnabled() {
        try (BufferPool pool = new BufferPool(MIB)) {
            Buffer first = pool.take(100);
            MemorySegment stale = first.segment();
            stale.fill((byte) 1);
            first.close();
            assertThat(stale.toArray(ValueLayout.JAVA_BYTE)).containsOnly((byte) 0xDB);
            try (Buffer second = pool.take(100)) {
                assertThatThrownBy(first::segment)
                        .isInstanceOf(AssertionError.class)
                        .hasMessageContaining("used after it was closed");
                assertThatThrownBy(first::close)
                        .isInstanceOf(AssertionError.class)
                        .hasMessageContaining("closed twice");
                assertThat(pool.usedBytes()).isEqualTo(256);
                assertThat(second.byteSize()).isEqualTo(100);
            }
        }
    }

    @Test
    void shouldLendNothingAfterCloseAndKeepWhatIsLent() {
        BufferPool pool = new BufferPool(MIB);
        Buffer late = pool.take(5000);
        pool.close();
        pool.close();
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> pool.take(1))
                .withMessage("the buffer pool is closed because the server is stopping")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        assertThat(pool.usedBytes()).isEqualTo(5120);
        late.segment().fill((byte) 9);
        long address = late.address();
        assertThat(Mappings.covers(address)).isTrue();
        late.close();
        assertThat(pool.usedBytes()).isZero();
        assertThat(Mappings.covers(address)).isFalse();
    }

    @Test
    void shouldNeverLendTheSameMemoryToTwoThreads() throws Exception {
        int threadCount = 8;
        CountDownLatch start = new CountDownLatch(threadCount);
        try (BufferPool pool = new BufferPool(2 * MIB);
                ExecutorService threads = Executors.newFixedThreadPool(threadCount)) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int t = 0; t < threadCount; t++) {
                long mark = 0x0101_0101_0101_0101L * (t + 1);
                Random random = new Random(t);
                results.add(threads.submit(() -> {
                    start.countDown();
                    start.await();
                    return takeMarkAndCheck(pool, mark, random);
                }));
            }
            int refused = 0;
            for (Future<Integer> result : results) {
                while (!result.isDone()) {
                    pool.trim();
                }
                refused += result.get(60, TimeUnit.SECONDS);
            }
            // The limit was reached now and then, or the idle buffers were never joined.
            assertThat(refused).isPositive();
            assertThat(pool.usedBytes()).isZero();
        }
    }

    private static int takeMarkAndCheck(BufferPool pool, long mark, Random random) {
        List<Buffer> held = new ArrayList<>();
        int refused = 0;
        for (int round = 0; round < 40_000; round++) {
            if (held.size() < 6 && random.nextInt(3) > 0) {
                try {
                    Buffer buffer = pool.take(16L << random.nextInt(random.nextInt(20) == 0 ? 17 : 8));
                    MemorySegment bytes = buffer.segment();
                    bytes.set(ValueLayout.JAVA_LONG, 0, mark);
                    bytes.set(ValueLayout.JAVA_LONG, bytes.byteSize() - 8, mark);
                    held.add(buffer);
                } catch (GatunException e) {
                    refused++;
                }
            } else if (!held.isEmpty()) {
                try (Buffer buffer = held.remove(random.nextInt(held.size()))) {
                    MemorySegment bytes = buffer.segment();
                    if (bytes.get(ValueLayout.JAVA_LONG, 0) != mark
                            || bytes.get(ValueLayout.JAVA_LONG, bytes.byteSize() - 8) != mark) {
                        throw new AssertionError("another thread wrote into " + bytes);
                    }
                }
            }
        }
        held.forEach(Buffer::close);
        return refused;
    }

    @Test
    void shouldNotLoseOrDoubleABufferWhenThreadsShareAStack() throws Exception {
        int threadCount = 4;
        int bufferCount = 5;
        try (ExecutorService threads = Executors.newFixedThreadPool(threadCount)) {
            BufferTable table = new BufferTable();
            BufferStack stack = new BufferStack();
            for (int i = 0; i < bufferCount; i++) {
                Buffer buffer = new Buffer((idle, charged) -> {}, table.reserve(), Buffer.SMALLEST_SHIFT, 0, 0, null);
                table.put(buffer);
                stack.push(buffer);
            }
            List<Future<?>> results = new ArrayList<>();
            for (int t = 0; t < threadCount; t++) {
                results.add(threads.submit(() -> {
                    for (int round = 0; round < 300_000; round++) {
                        Buffer first = stack.pop(table);
                        Buffer second = stack.pop(table);
                        if (first != null) {
                            stack.push(first);
                        }
                        if (second != null) {
                            stack.push(second);
                        }
                    }
                }));
            }
            for (Future<?> result : results) {
                result.get(60, TimeUnit.SECONDS);
            }
            Set<Integer> numbers = new HashSet<>();
            for (Buffer buffer = stack.pop(table); buffer != null; buffer = stack.pop(table)) {
                assertThat(numbers.add(buffer.number)).isTrue();
            }
            assertThat(numbers).hasSize(bufferCount);
        }
    }
}
