// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ReadingTest {
    @Test
    void shouldTakeTheMostProbableDigit() {
        float[] probabilities = {0.01f, 0.02f, 0, 0, 0, 0, 0.05f, 0.9f, 0.02f, 0};

        assertThat(Reading.of(probabilities)).isEqualTo(new Reading(7, 0.9f));
    }

    @Test
    void shouldRefuseAnAnswerOfAnotherLength() {
        assertThatThrownBy(() -> Reading.of(new float[3]))
                .isInstanceOf(DigitException.class)
                .hasMessageContaining("3 probabilities, not 10");
    }
}
