// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SequenceSimulationTest {
    @Test
    @Timeout(300)
    void shouldKeepItsPromisesWhateverHappens() {
        assertThat(Seeds.play(SequenceSimulation::run))
                .as("histories in which a promise was broken")
                .isEmpty();
    }
}
