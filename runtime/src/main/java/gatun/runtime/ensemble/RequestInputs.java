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
 * The tensors that a client's request brings into an ensemble, and what keeps it valid: the request itself keeps its
 * regions, everything else goes back when the last step that reads it is over.
 *
 * @param regions the claims on regions, which stay the request's
 * @param memory the other claims; whoever made this is their first user
 * @param owned whether there are any others
 */
record RequestInputs(List<Tensor> tensors, List<RegionLease> regions, SharedHolds memory, boolean owned) {
    /**
     * The inputs of {@code request}, which gives up its claims on memory that is no region.
     *
     * @param inputs the same as the steps get them
     */
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
