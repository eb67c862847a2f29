// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.execution.ServedModel;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * Whether the members of an ensemble still fit together: a reloaded one may have other tensors. The rules are checked
 * again only when a member's configuration has changed. Thread-safe.
 */
final class MemberFit {
    private final ModelConfig ensemble;
    private final EnsemblePlan plan;
    private final MemberModels members;

    /** Which steps gave any number of responses when the ensemble was made for them. */
    private final boolean[] decoupled;

    private volatile Finding latest;

    /**
     * The result of the rules for {@code members}, one per step: the broken rule, if any; {@code outdated} when the
     * ensemble was made for others, and may fit once made for these.
     */
    private record Finding(List<ModelConfig> members, BitSet sequential, Optional<String> misfit, boolean outdated) {
        static Finding of(List<ServedModel> members, Optional<String> misfit, boolean outdated) {
            BitSet sequential = new BitSet();
            for (int i = 0; i < members.size(); i++) {
                sequential.set(i, members.get(i).keepsSequences());
            }
            return new Finding(configs(members), sequential, misfit, outdated);
        }
    }

    MemberFit(ModelConfig ensemble, EnsemblePlan plan, MemberModels members, List<ServedModel> found) {
        this.ensemble = ensemble;
        this.plan = plan;
        this.members = members;
        decoupled = new boolean[found.size()];
        for (int i = 0; i < decoupled.length; i++) {
            decoupled[i] = found.get(i).decoupled();
        }
        latest = Finding.of(found, Optional.empty(), false);
    }

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

    /** Whether a member became decoupled, or no longer is, since the ensemble was made. */
    boolean outdated() {
        try {
            return now().outdated();
        } catch (GatunException gone) {
            return false;
        }
    }

    /** Whether the member of a step keeps sequences, as far as the last look at the members showed. */
    boolean keepsSequences(int step) {
        return latest.sequential().get(step);
    }

    private Finding now() {
        Finding known = latest;
        for (int i = 0; i < plan.steps().size(); i++) {
            if (isAnother(member(i).config(), known.members().get(i))) {
                known = look();
                latest = known;
                break;
            }
        }
        return known;
    }

    private Finding look() {
        List<ServedModel> found = new ArrayList<>();
        for (int i = 0; i < plan.steps().size(); i++) {
            found.add(member(i));
        }
        try {
            MemberRules.check(ensemble, configs(found));
        } catch (GatunException broken) {
            return Finding.of(found, Optional.of(broken.getMessage()), false);
        }
        for (int i = 0; i < decoupled.length; i++) {
            if (found.get(i).decoupled() != decoupled[i]) {
                String change = decoupled[i] ? "is not decoupled any more" : "has become decoupled";
                return Finding.of(
                        found,
                        Optional.of("in ensemble " + ensemble.getName() + ", model "
                                + plan.steps().get(i).model() + " " + change
                                + " since the ensemble was loaded, which has to be loaded again"),
                        true);
            }
        }
        return Finding.of(found, Optional.empty(), false);
    }

    private static List<ModelConfig> configs(List<ServedModel> members) {
        return members.stream().map(ServedModel::config).toList();
    }

    private ServedModel member(int step) {
        EnsembleStep asked = plan.steps().get(step);
        return members.member(asked.model(), asked.version());
    }

    @SuppressWarnings("ReferenceEquality") // a reload makes another object, and equals() would cost each request
    private static boolean isAnother(ModelConfig now, ModelConfig known) {
        return now != known;
    }
}
