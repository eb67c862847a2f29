// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedInputStream;
import gatun.bindings.NativeMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunOptionsTest {
    /** RunOptions.timeout_in_ms and its type. */
    private static final int TIMEOUT_TAG = 16;

    @ParameterizedTest
    @CsvSource({
        "-5, 1",
        "0, 1",
        "999999, 1",
        "1000000, 2",
        "126000000, 127",
        "127000000, 128",
        "30000000000, 30001",
        "9223372036854775806, 9223372036855"
    })
    void shouldWriteTheTimeoutRoundedUp(long nanos, long millis) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = new RunOptions(arena).timeout(nanos);
            byte[] message = NativeMemory.segment(
                            buffer.get(ValueLayout.ADDRESS, 0).address(), buffer.get(ValueLayout.JAVA_LONG, Long.BYTES))
                    .toArray(ValueLayout.JAVA_BYTE);
            CodedInputStream in = CodedInputStream.newInstance(message);
            assertThat(in.readTag()).isEqualTo(TIMEOUT_TAG);
            assertThat(in.readInt64()).isEqualTo(millis);
            assertThat(in.isAtEnd()).isTrue();
            assertThat(buffer.get(ValueLayout.ADDRESS, 2L * Long.BYTES).address())
                    .as("nothing to free")
                    .isZero();
        }
    }

    @Test
    void shouldBeNothingWhereTheRunMayTakeForEver() {
        try (Arena arena = Arena.ofConfined()) {
            assertThat(new RunOptions(arena).timeout(Long.MAX_VALUE).address()).isZero();
        }
    }
}
