package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SchedulerSimulationTest {
    private static final long SEEDS = 10_000;

    /** So many seeds that failed say enough. */
    private static final int ENOUGH = 5;

    /** One seed can be played again by {@code -Dgatun.simulation.seed=N}. */
    @Test
    @Timeout(300)
    void shouldKeepItsPromisesWhateverHappens() {
        Long only = Long.getLong("gatun.simulation.seed");
        long first = only == null ? 0 : only;
        long last = only == null ? SEEDS - 1 : only;
        List<AssertionError> broken = new ArrayList<>();
        for (long seed = first; seed <= last && broken.size() < ENOUGH; seed++) {
            try {
                SchedulerSimulation.run(seed);
            } catch (AssertionError e) {
                broken.add(e);
            }
        }
        assertThat(broken).as("histories in which a promise was broken").isEmpty();
    }
}
