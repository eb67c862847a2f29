// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ArrayTensorsTest {
    @Test
    void shouldConvertFloatsToHalvesAndBack() {
        float[] values = {1, -2.5f, 1 + 0x1p-11f, 70_000, Float.NaN};
        Tensor half = ArrayTensors.of("X", Datatype.FP16, values, 5);
        assertThat(half.bytes().byteSize()).isEqualTo(10);
        assertThat(ArrayTensors.floats(half)).containsExactly(1, -2.5f, 1, Float.POSITIVE_INFINITY, Float.NaN);
        Tensor brain = ArrayTensors.of("X", Datatype.BF16, values);
        assertThat(brain.spec().shape()).isEqualTo(Shape.of(5));
        assertThat(ArrayTensors.floats(brain)).containsExactly(1, -2.5f, 1, 70_144, Float.NaN);
        assertThat(ArrayTensors.shorts(brain)).startsWith((short) 0x3f80);
        Tensor single = ArrayTensors.of("X", Datatype.FP32, values);
        assertThat(ArrayTensors.floats(single)).containsExactly(values);
    }

    @Test
    void shouldRefuseFloatsForADatatypeWithoutThem() {
        assertThatThrownBy(() -> ArrayTensors.of("X", Datatype.INT32, new float[] {1}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("tensor 'X' of datatype INT32 was given a float[]: expected FP32, FP16 or BF16");
        assertThatThrownBy(() -> ArrayTensors.of("X", Datatype.FP16, new float[] {1}, 2))
                .hasMessage("tensor 'X' FP16 [2]: the array has 1 elements: expected 2");
        Tensor brain = ArrayTensors.of("X", Datatype.BF16, new float[] {1});
        assertThatThrownBy(() -> ArrayTensors.ints(brain))
                .hasMessage("tensor 'X' has the datatype BF16, which ints() does not give: use floats()");
    }

    @Test
    void shouldShowAResponseInAFewLines() {
        AtomicInteger freed = new AtomicInteger();
        InferResponse response = new InferResponse(
                "simple",
                "1",
                "7",
                List.of(ArrayTensors.of("SUM", new int[100], 1, 100), ArrayTensors.of("TEXT", new String[] {"a"})),
                List.of(new TensorSpec("AWAY", Datatype.FP32, Shape.of(4))),
                Map.of(),
                freed::incrementAndGet);
        assertThat(response.toString()).isEqualTo("""
                        answer of model 'simple' version 1 to request '7'
                            'SUM' INT32 [1,100]: 0, 0, 0, 0, 0, 0, 0, 0, ...
                            'TEXT' BYTES [1]: "a"
                            in regions: 'AWAY' FP32 [4]""");
        response.close();
        assertThat(response.toString()).isEqualTo("answer of model 'simple' version 1 to request '7', closed");
    }

    @Test
    void shouldShowNoMoreThanSomeOutputs() {
        List<Tensor> outputs = IntStream.range(0, 1000)
                .mapToObj(i -> ArrayTensors.of("OUT" + i, new int[] {i}))
                .toList();
        try (InferResponse response = new InferResponse("m", "", "", outputs, List.of(), Map.of(), () -> {})) {
            assertThat(response.toString().lines()).hasSize(10).last().isEqualTo("    and 992 more");
        }
    }
}
