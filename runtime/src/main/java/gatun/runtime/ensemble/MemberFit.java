package gatun.runtime.ensemble;

import gatun.memory.GatunException;
import gatun.protocol.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether the members of an ensemble fit together as they are served now: one that was reloaded may have other tensors than when the
 * ensemble was loaded. The rules are gone through again only when a member's configuration is another. Safe for any thread.
 */
final class MemberFit {
    private final ModelConfig ensemble;
    private final EnsemblePlan plan;
    private final MemberModels members;
    private volatile Finding latest;

    /**
     * What the rules said.
     *
     * @param members the configurations that were looked at, one for each step
     * @param misfit the rule that is broken; empty when they fit
     */
    private record Finding(List<ModelConfig> members, Optional<String> misfit) {}

    /** Members that were found to fit: {@code found}, the configurations of the members, one for each step. */
    MemberFit(ModelConfig ensemble, EnsemblePlan plan, MemberModels members, List<ModelConfig> found) {
        this.ensemble = ensemble;
        this.plan = plan;
        this.members = members;
        latest = new Finding(List.copyOf(found), Optional.empty());
    }

    /** Which rule the members break, in the words of the index; empty when they fit. */
    Optional<String> misfit() {
        try {
            Finding known = latest;
            for (int i = 0; i < plan.steps().size(); i++) {
                if (isAnother(config(i), known.members().get(i))) {
                    known = look();
                    latest = known;
                    break;
                }
            }
            return known.misfit();
        } catch (GatunException gone) {
            return Optional.of(gone.getMessage());
        }
    }

    private Finding look() {
        List<ModelConfig> found = new ArrayList<>();
        for (int i = 0; i < plan.steps().size(); i++) {
            found.add(config(i));
        }
        try {
            MemberRules.check(ensemble, found);
            return new Finding(found, Optional.empty());
        } catch (GatunException broken) {
            return new Finding(found, Optional.of(broken.getMessage()));
        }
    }

    private ModelConfig config(int step) {
        EnsembleStep asked = plan.steps().get(step);
        return members.member(asked.model(), asked.version()).config();
    }

    @SuppressWarnings("ReferenceEquality") // a reload makes another object, and equals() would cost each request
    private static boolean isAnother(ModelConfig now, ModelConfig known) {
        return now != known;
    }
}
