// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorCopyTest {
    @ParameterizedTest
    @ValueSource(
            longs = {0, 100, TensorCopy.STREAMING_BYTES - 1, TensorCopy.STREAMING_BYTES, TensorCopy.STREAMING_BYTES + 33
            })
    void shouldCopyTensorsOfEachSize(long byteSize) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = numbered(arena, byteSize);
            MemorySegment target = arena.allocate(byteSize + 1);

            TensorCopy.copy(source, target);

            assertThat(source.mismatch(target.asSlice(0, byteSize))).isEqualTo(-1);
            assertThat(target.get(ValueLayout.JAVA_BYTE, byteSize)).isZero();
        }
    }

    @Test
    void shouldCopyBetweenPlacesThatOverlap() {
        long byteSize = TensorCopy.STREAMING_BYTES;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = numbered(arena, byteSize + 1000);
            MemorySegment expected = arena.allocate(byteSize).copyFrom(memory.asSlice(0, byteSize));

            TensorCopy.copy(memory.asSlice(0, byteSize), memory.asSlice(1000, byteSize));

            assertThat(memory.asSlice(1000, byteSize).mismatch(expected)).isEqualTo(-1);
        }
    }

    @Test
    void shouldRefuseATargetThatIsTooSmall() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(TensorCopy.STREAMING_BYTES);
            MemorySegment target = arena.allocate(TensorCopy.STREAMING_BYTES - 1);

            assertThatThrownBy(() -> TensorCopy.copy(source, target)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    private static MemorySegment numbered(Arena arena, long byteSize) {
        MemorySegment memory = arena.allocate(byteSize);
        for (long i = 0; i < byteSize; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) ((i * 31) >> 3));
        }
        return memory;
    }
}
