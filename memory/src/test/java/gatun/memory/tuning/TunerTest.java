// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tuning.Tuner.TrialTurn;
import gatun.memory.tuning.Tuner.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

class TunerTest {
    private static final Trials TRIALS = new Trials(3, 2, 2, 1);

    private final TrialTurn turn = new TrialTurn();
    private final List<String> decisions = new ArrayList<>();
    private final Tuner tuner = tuner();

    private Tuner tuner() {
        return new Tuner(TRIALS, turn, (way, gain) -> decisions.add("%d %.1f".formatted(way, gain)));
    }

    private static void run(Tuner tuner, int count, IntToDoubleFunction costs) {
        for (int i = 0; i < count; i++) {
            tuner.recordRun(costs.applyAsDouble(tuner.way()), 1);
        }
    }

    private static IntToDoubleFunction costs(double... costs) {
        return way -> costs[way];
    }

    /** The run that shows that there are runs, and all trials. */
    private void learn(IntToDoubleFunction costs) {
        run(tuner, 1 + TRIALS.runs(), costs);
    }

    @Test
    void shouldTakeTheUsualWayFirst() {
        assertThat(tuner.way()).isEqualTo(2);
        assertThat(decisions).isEmpty();
    }

    @Test
    void shouldKeepToTheCheapestAndTellWhatItBrings() {
        learn(costs(900, 500, 700));

        assertThat(tuner.way()).isEqualTo(1);
        assertThat(decisions).containsExactly("1 1.4");
    }

    @Test
    void shouldTellWhatAnotherWayWouldHaveCost() {
        learn(costs(1400, 1500, 700));

        assertThat(tuner.way()).isEqualTo(2);
        assertThat(decisions).containsExactly("2 0.5");
    }

    @Test
    void shouldTakeAnEarlierWayThatCostsHardlyMore() {
        learn(costs(10_200, 10_100, 10_000));

        assertThat(tuner.way()).isZero();
    }

    @Test
    void shouldWeighRunsByWhatTheyDo() {
        for (int i = 0; i <= TRIALS.runs(); i++) {
            double requests = tuner.way() == 0 ? 8 : 1;
            tuner.recordRun(tuner.way() == 0 ? 2_000 : 700, requests);
        }

        assertThat(tuner.way()).isZero();
    }

    @Test
    void shouldNotMindTrialsThatWereDisturbed() {
        run(tuner, 1 + TRIALS.runs() / 3, costs(900_000, 500_000, 700));
        run(tuner, 2 * TRIALS.runs() / 3, costs(900, 500, 700));

        assertThat(tuner.way()).isEqualTo(1);
    }

    @Test
    void shouldNotMindThatAWayIsDearAtFirst() {
        int[] last = {0};
        learn(way -> {
            boolean warm = way == last[0];
            last[0] = way;
            return warm ? costs(900, 700, 500).applyAsDouble(way) : 2000;
        });

        assertThat(tuner.way()).isEqualTo(2);
    }

    @Test
    void shouldTryAgainAfterSomeTime() {
        learn(costs(900, 500, 700));

        run(tuner, 2 * TRIALS.firstRest() + TRIALS.runs(), costs(900, 600, 300));

        assertThat(tuner.way()).isEqualTo(2);
    }

    @Test
    void shouldTryTooSeldomToBeSeen() {
        int others = 0;
        int runs = 10 * TRIALS.longestRest();
        for (int i = 0; i < runs; i++) {
            others += tuner.way() == 1 ? 0 : 1;
            run(tuner, 1, costs(900, 500, 700));
        }

        assertThat(others).isPositive().isLessThan(runs / 100);
    }

    @Test
    void shouldNoticeSoonThatWhatItChoseHasBecomeDear() {
        learn(costs(900, 500, 700));
        run(tuner, 100, costs(900, 500, 700));

        run(tuner, 50 + TRIALS.runs(), costs(900, 5_000, 700));

        assertThat(tuner.way()).isEqualTo(2);
    }

    @Test
    void shouldNotTryAgainAndAgainWhereAllHaveBecomeDear() {
        learn(costs(900, 500, 700));
        decisions.clear();

        run(tuner, 20_000, costs(9_000, 5_000, 7_000));

        assertThat(tuner.chosen()).isEqualTo(1);
        assertThat(decisions).hasSizeLessThan(10);
    }

    @Test
    void shouldNotDoubtItsChoiceForSingleRuns() {
        learn(costs(900, 500, 700));
        decisions.clear();

        for (int i = 0; i < TRIALS.firstRest(); i++) {
            tuner.recordRun(i % 100 == 99 ? 100_000 : 500, 1);
        }

        assertThat(decisions).isEmpty();
        assertThat(tuner.way()).isEqualTo(1);
    }

    @Test
    void shouldLeaveOthersToTryFirst() {
        Tuner other = tuner();
        run(other, 2, costs(900, 500, 700));

        learn(costs(900, 500, 700));
        assertThat(decisions).as("while the other tries").isEmpty();
        run(other, TRIALS.runs(), costs(900, 500, 700));
        learn(costs(900, 500, 700));

        assertThat(decisions).hasSize(2);
    }

    @Test
    void shouldNotWaitForTrialsThatNobodyGoesOnWith() {
        Tuner other = tuner();
        run(other, 2, costs(900, 500, 700));

        run(tuner, 300 + TRIALS.runs(), costs(900, 500, 700));
        run(other, 2, costs(900, 500, 700));

        assertThat(decisions).containsExactly("1 1.4");
        assertThat(other.way()).as("the turn was another's").isEqualTo(2);
    }

    @Test
    void shouldTakeOneWayWhereNothingIsToBeLearned() {
        Tuner fixed = Tuner.fixed(1);

        run(fixed, 1000, costs(1, 1_000));

        assertThat(fixed.way()).isEqualTo(1);
    }
}
