// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.ArrayTensors;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExpectedOutputsTest {
    @Test
    void shouldBearDifferencesUpToTheTolerance() {
        ExpectedOutputs expected = expecting(ArrayTensors.of("OUT", new double[] {1000, 0, Double.NaN}), 1e-3);
        assertThat(expected.differences(List.of(ArrayTensors.of("OUT", new double[] {1000.9, 0.0009, Double.NaN}))))
                .isEmpty();
        assertThat(expected.differences(List.of(ArrayTensors.of("OUT", new double[] {1001.1, 0, Double.NaN}))))
                .isEqualTo("output 'OUT' has 1001.1 at element 0: expected 1000.0");
        assertThat(expected.differences(List.of(ArrayTensors.of("OUT", new double[] {1000, 0, 1}))))
                .isEqualTo("output 'OUT' has 1.0 at element 2: expected NaN");
    }

    @Test
    void shouldWantIntegersExactly() {
        ExpectedOutputs expected = expecting(ArrayTensors.of("OUT", new int[] {1, 2, 3}), 10);
        assertThat(expected.differences(List.of(ArrayTensors.of("OUT", new int[] {1, 2, 4}))))
                .isEqualTo("output 'OUT' has 4 at element 2: expected 3");
    }

    @Test
    void shouldCompareHalfPrecision() {
        Tensor half = ArrayTensors.of("OUT", Datatype.FP16, new byte[] {0, 0x3c}, 1);
        Tensor other = ArrayTensors.of("OUT", Datatype.FP16, new byte[] {1, 0x3c}, 1);
        assertThat(expecting(half, 1e-2).differences(List.of(other))).isEmpty();
        assertThat(expecting(half, 1e-5).differences(List.of(other))).startsWith("output 'OUT' has 1.0009765625");
        Tensor brain = ArrayTensors.of("OUT", Datatype.BF16, new byte[] {(byte) 0x80, 0x3f}, 1);
        Tensor next = ArrayTensors.of("OUT", Datatype.BF16, new byte[] {(byte) 0x81, 0x3f}, 1);
        assertThat(expecting(brain, 1e-2).differences(List.of(next))).isEmpty();
        assertThat(expecting(brain, 1e-3).differences(List.of(next)))
                .isEqualTo("output 'OUT' has 1.0078125 at element 0: expected 1.0");
    }

    @Test
    void shouldSayWhatElseIsWrong() {
        ExpectedOutputs expected = expecting(ArrayTensors.of("OUT", new int[] {1, 2}), 0);
        assertThat(expected.differences(List.of())).isEqualTo("output 'OUT' is missing in the answer");
        assertThat(expected.differences(List.of(ArrayTensors.of("OUT", new long[] {1, 2}))))
                .isEqualTo("output 'OUT' is of INT64: expected INT32");
        assertThat(expected.differences(List.of(ArrayTensors.of("OUT", new int[] {1, 2}, 1, 2))))
                .isEqualTo("output 'OUT' has the shape [1,2]: expected [2]");
        assertThat(expecting(ArrayTensors.of("OUT", new String[] {"a", "b"}), 0)
                        .differences(List.of(ArrayTensors.of("OUT", new String[] {"a", "c"}))))
                .isEqualTo("output 'OUT' differs at byte 9 of its strings and their lengths");
    }

    @Test
    void shouldExpectNothingOfOtherOutputs() {
        ExpectedOutputs expected = expecting(ArrayTensors.of("OUT", new int[] {1, 2}), 0);
        assertThat(expected.differences(
                        List.of(ArrayTensors.of("MORE", new int[] {9}), ArrayTensors.of("OUT", new int[] {1, 2}))))
                .isEmpty();
        assertThat(ExpectedOutputs.NOTHING.differences(List.of())).isEmpty();
    }

    private static ExpectedOutputs expecting(Tensor tensor, double tolerance) {
        return new ExpectedOutputs(List.of(tensor), tolerance);
    }
}
