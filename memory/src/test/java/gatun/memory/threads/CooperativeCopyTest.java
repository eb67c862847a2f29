// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CooperativeCopyTest {
    private static final int STEP = CooperativeYield.COPY_STEP;

    private static MemorySegment random(Arena arena, long byteSize) {
        byte[] bytes = new byte[(int) byteSize];
        new Random(88).nextBytes(bytes);
        return arena.allocate(byteSize).copyFrom(MemorySegment.ofArray(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {-STEP - 1, -3, 3, STEP + 1})
    void shouldCopyWhatOverlaps(int distance) {
        long byteSize = 3L * STEP + 7;
        long from = Math.max(0, -distance);
        long to = Math.max(0, distance);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = random(arena, byteSize + Math.abs(distance));
            byte[] expected = memory.asSlice(from, byteSize).toArray(ValueLayout.JAVA_BYTE);

            CooperativeCopy.copy(memory, from, memory, to, byteSize);

            assertThat(memory.asSlice(to, byteSize).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(expected);
        }
    }

    @Test
    void shouldYieldAfterEachStep() throws Exception {
        long before = CooperativeYield.count();
        FutureTask<Void> task = new FutureTask<>(
                () -> {
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment source = arena.allocate(3L * STEP);
                        CooperativeCopy.copy(source, arena.allocate(3L * STEP));
                        CooperativeCopy.clear(source);
                    }
                },
                null);
        Thread.ofVirtual().start(task);
        task.get();

        assertThat(CooperativeYield.count() - before).isEqualTo(6);
    }

    @Test
    void shouldClearAllOfIt() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = random(arena, 2L * STEP + 5);

            CooperativeCopy.clear(memory);

            assertThat(memory.mismatch(arena.allocate(memory.byteSize()))).isNegative();
        }
    }
}
