// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class ElementValuesTest {
    private static float rounded(float value) {
        return ElementValues.fromBfloat16(ElementValues.toBfloat16(value));
    }

    @Test
    void shouldKeepWhatBfloat16Has() {
        for (int bits = Short.MIN_VALUE; bits <= Short.MAX_VALUE; bits++) {
            float value = ElementValues.fromBfloat16((short) bits);
            if (Float.isNaN(value)) {
                assertThat(rounded(value)).isNaN();
            } else {
                assertThat(ElementValues.toBfloat16(value)).isEqualTo((short) bits);
            }
        }
    }

    @Test
    void shouldRoundToTheNearestAndBetweenTwoToTheEvenOne() {
        // The last digit of BF16 between 1 and 2 stands for 2^-7.
        assertThat(rounded(1 + 0x1p-8f)).isEqualTo(1);
        assertThat(rounded(1 + 0x1p-8f + 0x1p-20f)).isEqualTo(1 + 0x1p-7f);
        assertThat(rounded(1 + 3 * 0x1p-8f)).isEqualTo(1 + 0x1p-6f);
        assertThat(rounded(-1 - 0x1p-8f)).isEqualTo(-1);
        assertThat(rounded(Float.MAX_VALUE)).isEqualTo(Float.POSITIVE_INFINITY);
        assertThat(rounded(Float.NEGATIVE_INFINITY)).isEqualTo(Float.NEGATIVE_INFINITY);
        assertThat(ElementValues.toBfloat16(-0f)).isEqualTo(Short.MIN_VALUE);
    }

    @Test
    void shouldNotRoundFurtherThanHalfADigit() {
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            float value = random.nextFloat(-1000, 1000);
            float digit = Math.ulp(value) * (1 << Short.SIZE);
            assertThat(Math.abs(rounded(value) - value)).isLessThanOrEqualTo(digit / 2);
        }
    }
}
