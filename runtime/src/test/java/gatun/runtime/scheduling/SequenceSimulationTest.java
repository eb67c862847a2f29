package gatun.runtime.scheduling;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SequenceSimulationTest {
    private static final long SEEDS = 10_000;

    /** One seed can be played again by {@code -Dgatun.simulation.seed=N}. */
    @Test
    @Timeout(300)
    void shouldKeepItsPromisesWhateverHappens() {
        Long only = Long.getLong("gatun.simulation.seed");
        long first = only == null ? 0 : only;
        long last = only == null ? SEEDS - 1 : only;
        for (long seed = first; seed <= last; seed++) {
            SequenceSimulation.run(seed);
        }
    }
}
