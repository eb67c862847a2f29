// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StreamingCopyTest {
    @TempDir
    private static Path cache;

    private StreamingCopy copy;

    @BeforeEach
    void open() {
        Optional<StreamingCopy> opened = StreamingCopy.open(new LibraryCache(cache));
        assumeTrue(opened.isPresent(), "this build has no C compiler");
        copy = opened.get();
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "1, 3, 5", "63, 1, 0", "64, 0, 0", "65, 0, 63", "4096, 7, 9", "1000003, 1, 17"})
    void shouldCopyEachByteAndNoOther(int byteSize, int sourceOffset, int targetOffset) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(byteSize + 128L, 64);
            byte[] content = new byte[byteSize];
            new Random(byteSize).nextBytes(content);
            MemorySegment.copy(content, 0, source, ValueLayout.JAVA_BYTE, sourceOffset, byteSize);
            MemorySegment target = arena.allocate(byteSize + 128L, 64);
            target.fill((byte) 0x5a);

            copy.copy(source.asSlice(sourceOffset, byteSize), target.asSlice(targetOffset, byteSize));

            byte[] expected = new byte[byteSize + 128];
            Arrays.fill(expected, (byte) 0x5a);
            System.arraycopy(content, 0, expected, targetOffset, byteSize);
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
    }

    @Test
    void shouldRefuseATargetThatIsTooSmallOrReadOnly() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(64);
            MemorySegment small = arena.allocate(63);
            MemorySegment readOnly = arena.allocate(64).asReadOnly();

            assertThatThrownBy(() -> copy.copy(source, small)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> copy.copy(source, readOnly)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
