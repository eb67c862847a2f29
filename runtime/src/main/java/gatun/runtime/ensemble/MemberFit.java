// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether the members of an ensemble fit together as they are served now: one that was reloaded may have other tensors
 * than when the ensemble was loaded. The rules are checked again only when a member's configuration has changed. Safe
 * for any thread.
 */
final class MemberFit {
    private final ModelConfig ensemble;
    private final EnsemblePlan plan;
    private final MemberModels members;

    /** Which steps gave any number of responses when the ensemble was made for them. */
    private final boolean[] decoupled;

    private volatile Finding latest;

    /**
     * The result of the rules.
     *
     * @param members the configurations that were looked at, one for each step
     * @param misfit the rule that is broken; empty when they fit
     * @param outdated whether the ensemble was made for others, and may fit once it is made for these
     */
    private record Finding(List<ModelConfig> members, Optional<String> misfit, boolean outdated) {}

    /** Members that were found to fit: {@code found}, the configurations of the members, one for each step. */
    MemberFit(ModelConfig ensemble, EnsemblePlan plan, MemberModels members, List<ModelConfig> found) {
        this.ensemble = ensemble;
        this.plan = plan;
        this.members = members;
        decoupled = new boolean[found.size()];
        for (int i = 0; i < decoupled.length; i++) {
            decoupled[i] = isDecoupled(found.get(i));
        }
        latest = new Finding(List.copyOf(found), Optional.empty(), false);
    }

    /** Finds the members as they are served now. */
    MemberModels members() {
        return members;
    }

    /** Which rule the members break, in the words of the index; empty when they fit. */
    Optional<String> misfit() {
        try {
            return now().misfit();
        } catch (GatunException gone) {
            return Optional.of(gone.getMessage());
        }
    }

    /**
     * Whether some member now gives any number of responses where the ensemble was made for one that gave one, or the
     * other way round.
     */
    boolean outdated() {
        try {
            return now().outdated();
        } catch (GatunException gone) {
            return false;
        }
    }

    private Finding now() {
        Finding known = latest;
        for (int i = 0; i < plan.steps().size(); i++) {
            if (isAnother(config(i), known.members().get(i))) {
                known = look();
                latest = known;
                break;
            }
        }
        return known;
    }

    private Finding look() {
        List<ModelConfig> found = new ArrayList<>();
        for (int i = 0; i < plan.steps().size(); i++) {
            found.add(config(i));
        }
        try {
            MemberRules.check(ensemble, found);
        } catch (GatunException broken) {
            return new Finding(found, Optional.of(broken.getMessage()), false);
        }
        for (int i = 0; i < decoupled.length; i++) {
            if (isDecoupled(found.get(i)) != decoupled[i]) {
                String change = decoupled[i] ? "is not decoupled any more" : "has become decoupled";
                return new Finding(
                        found,
                        Optional.of("in ensemble " + ensemble.getName() + ", model "
                                + plan.steps().get(i).model() + " " + change
                                + " since the ensemble was loaded, which has to be loaded again"),
                        true);
            }
        }
        return new Finding(found, Optional.empty(), false);
    }

    private static boolean isDecoupled(ModelConfig config) {
        return config.getModelTransactionPolicy().getDecoupled();
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
