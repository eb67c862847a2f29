// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class RowsTextTest {
    @Test
    void shouldTellWhereTheRowsAre() {
        try (Arena arena = Arena.ofConfined()) {
            RowsText text = new RowsText(7, arena);
            assertThat(text.of(MemorySegment.ofAddress(123_456_789), Datatype.FP32, 90)
                            .getString(0)
                            .replace(" ", ""))
                    .isEqualTo("{\"data\":[123456789,true],\"shape\":[90,7],\"version\":3,\"typestr\":\"<f4\"}");
            assertThat(text.of(MemorySegment.ofAddress(Long.MAX_VALUE), Datatype.FP64, 1)
                            .getString(0)
                            .replace(" ", ""))
                    .isEqualTo(
                            "{\"data\":[9223372036854775807,true],\"shape\":[1,7],\"version\":3,\"typestr\":\"<f8\"}");
        }
    }
}
