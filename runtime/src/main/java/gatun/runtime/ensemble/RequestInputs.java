// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.execution.SharedHolds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The tensors that a request brings into an ensemble. It keeps its {@code regions}; the other claims, {@code memory},
 * whose first user is the maker, go back when the last step that reads them is over. {@code owned}: there are any.
 */
record RequestInputs(List<Tensor> tensors, List<RegionLease> regions, SharedHolds memory, boolean owned) {
    /** Takes from {@code request} its claims on memory that is no region; {@code inputs} are as the steps get them. */
    static RequestInputs of(InferenceRequest request, List<Tensor> inputs) {
        List<Hold> owned = new ArrayList<>();
        List<RegionLease> regions = new ArrayList<>();
        for (Hold hold : List.copyOf(request.holds())) {
            if (hold instanceof RegionLease lease) {
                regions.add(lease);
            } else if (request.release(hold)) {
                owned.add(hold);
            }
        }
        return new RequestInputs(inputs, regions, new SharedHolds(owned), !owned.isEmpty());
    }

    /** The input of that name; empty when the client left it out. */
    Optional<Tensor> find(String name) {
        for (Tensor input : tensors) {
            if (input.spec().name().equals(name)) {
                return Optional.of(input);
            }
        }
        return Optional.empty();
    }

    Optional<RegionLease> region(Tensor input) {
        return regions.stream().filter(input::liesIn).findFirst();
    }
}
