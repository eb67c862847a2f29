// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.TrialTurn;
import gatun.memory.tuning.Tuner.Trials;
import gatun.runtime.ModelVersion.LearnedChoice;
import gatun.spi.Tuning;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;

/** The tuners of one model version, and what they have chosen last. Safe for any thread. */
public final class ModelTuning implements Tuning {
    private final Set<Subject> learned;
    private final Consumer<LearnedChoice> listener;
    private final TrialTurn turn = new TrialTurn();
    private final Map<Subject, LearnedChoice> choices = new ConcurrentSkipListMap<>();

    /** @param learned what the operator lets be learned */
    public ModelTuning(Set<Subject> learned) {
        this(learned, choice -> {});
    }

    /**
     * The same.
     *
     * @param listener is told of each choice; must return at once
     */
    public ModelTuning(Set<Subject> learned, Consumer<LearnedChoice> listener) {
        this.learned = Set.copyOf(learned);
        this.listener = listener;
    }

    @Override
    public boolean learns(Subject subject) {
        return learned.contains(subject);
    }

    @Override
    public Tuner tuner(Subject subject, List<String> ways, Trials trials) {
        return learns(subject)
                ? new Tuner(trials, turn, (way, gain) -> chose(subject, ways, way, gain))
                : Tuning.OFF.tuner(subject, ways, trials);
    }

    @Override
    public void chose(Subject subject, List<String> ways, int way, double gain) {
        LearnedChoice choice = new LearnedChoice(subject, ways, way, gain);
        choices.put(subject, choice);
        listener.accept(choice);
    }

    /** What was chosen last about each subject that something was learned of. */
    public List<LearnedChoice> choices() {
        return List.copyOf(choices.values());
    }
}
