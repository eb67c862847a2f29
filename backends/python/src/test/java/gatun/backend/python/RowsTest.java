// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowsTest {
    private final Arena arena = Arena.ofAuto();

    private static Tensor tensor(Datatype datatype, MemorySegment bytes, long... dims) {
        return new Tensor(new TensorSpec("x", datatype, Shape.of(dims)), bytes);
    }

    private MemorySegment texts(String... values) {
        MemorySegment bytes = arena.allocate(Math.max(1, BytesCodec.encodedTextByteSize(List.of(values))))
                .asSlice(0, BytesCodec.encodedTextByteSize(List.of(values)));
        BytesCodec.encodeText(List.of(values), bytes);
        return bytes;
    }

    @Test
    void shouldCutRowsOfElementsOfOneSize() {
        Tensor tensor = tensor(Datatype.INT16, arena.allocateFrom(ValueLayout.JAVA_SHORT, new short[12]), 3, 2, 2);
        for (int i = 0; i < 12; i++) {
            tensor.bytes().setAtIndex(ValueLayout.JAVA_SHORT, i, (short) i);
        }
        assertThat(Rows.slice(tensor, 0, 1).toArray(ValueLayout.JAVA_SHORT)).containsExactly(0, 1, 2, 3);
        assertThat(Rows.slice(tensor, 1, 2).toArray(ValueLayout.JAVA_SHORT)).containsExactly(4, 5, 6, 7, 8, 9, 10, 11);
        assertThat(Rows.slice(tensor, 2, 1).address())
                .as("nothing is copied")
                .isEqualTo(tensor.bytes().address() + 16);
    }

    @Test
    void shouldCutRowsWithoutElements() {
        Tensor tensor = tensor(Datatype.FP32, arena.allocate(1).asSlice(0, 0), 3, 0);
        assertThat(Rows.slice(tensor, 2, 1).byteSize()).isZero();
    }

    @Test
    void shouldCutRowsOfStrings() {
        MemorySegment all = texts("a", "", "three", "fo", "", "é");
        Tensor tensor = tensor(Datatype.BYTES, all, 3, 2);
        assertThat(Rows.slice(tensor, 0, 1).mismatch(texts("a", ""))).isEqualTo(-1);
        assertThat(Rows.slice(tensor, 1, 1).mismatch(texts("three", "fo"))).isEqualTo(-1);
        assertThat(Rows.slice(tensor, 1, 2).mismatch(texts("three", "fo", "", "é")))
                .isEqualTo(-1);
        assertThat(Rows.slice(tensor, 0, 3).mismatch(all)).isEqualTo(-1);
    }

    @Test
    void shouldCutRowsOfOneStringEach() {
        Tensor tensor = tensor(Datatype.BYTES, texts("first", "second"), 2);
        assertThat(Rows.slice(tensor, 1, 1).mismatch(texts("second"))).isEqualTo(-1);
    }
}
