package gatun.runtime.scheduling;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SequenceSimulationTest {
    @Test
    @Timeout(300)
    void shouldKeepItsPromisesWhateverHappens() {
        Seeds.play(SequenceSimulation::run);
    }
}
