// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests whose outputs go where another output goes, or where an input lies: engines write outputs while they
 * read inputs, in any order, so that the response would be wrong without any error. Windows are compared by the object
 * that they are a part of, whatever the names of the regions. An output that fills exactly the window of an input is
 * refused too; inputs that are copied before the run, as strings are, may be overwritten. Stateless.
 */
public final class OutputAliasCheck {
    /** Up to this many holds, each is compared with each, without allocating anything. */
    private static final int FEW = 8;

    private OutputAliasCheck() {}

    /**
     * Passes a request whose outputs have places of their own.
     *
     * @throws GatunException INVALID_ARGUMENT naming two tensors that overlap, and their regions
     */
    public static void refuseIn(InferenceRequest request) {
        if (!hasDestinations(request)) {
            return;
        }
        List<Hold> holds = request.holds();
        if (holds.size() > FEW) {
            refuseAmongMany(request, holds);
            return;
        }
        for (int i = 0; i < holds.size(); i++) {
            for (int j = i + 1; j < holds.size(); j++) {
                if (holds.get(i) instanceof RegionLease one
                        && holds.get(j) instanceof RegionLease other
                        && one.overlaps(other)) {
                    refuse(request, one, other);
                }
            }
        }
    }

    private static boolean hasDestinations(InferenceRequest request) {
        List<RequestedOutput> outputs = request.outputs();
        for (int i = 0; i < outputs.size(); i++) {
            if (outputs.get(i).destination().isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Windows of one object in order of their begins: the two that reach farthest may overlap the next. */
    private static void refuseAmongMany(InferenceRequest request, List<Hold> holds) {
        Map<Object, List<RegionLease>> objects = new HashMap<>();
        for (Hold hold : holds) {
            if (hold instanceof RegionLease window && window.byteSize() > 0) {
                objects.computeIfAbsent(window.object(), object -> new ArrayList<>())
                        .add(window);
            }
        }
        IdentityHashMap<Hold, RequestedOutput> destinations = new IdentityHashMap<>();
        request.outputs().forEach(output -> output.destination().ifPresent(window -> destinations.put(window, output)));
        for (List<RegionLease> windows : objects.values()) {
            windows.sort(Comparator.comparingLong(RegionLease::objectOffset));
            RegionLease farthestInput = null;
            RegionLease farthestOutput = null;
            for (RegionLease window : windows) {
                boolean output = destinations.containsKey(window);
                refuse(request, window, farthestOutput);
                if (output) {
                    refuse(request, window, farthestInput);
                    farthestOutput = farther(window, farthestOutput);
                } else {
                    farthestInput = farther(window, farthestInput);
                }
            }
        }
    }

    private static RegionLease farther(RegionLease window, @Nullable RegionLease before) {
        return before == null || end(window) > end(before) ? window : before;
    }

    private static long end(RegionLease window) {
        return window.objectOffset() + window.byteSize();
    }

    private static void refuse(InferenceRequest request, RegionLease one, @Nullable RegionLease other) {
        if (other == null || !one.overlaps(other)) {
            return;
        }
        Optional<String> oneOutput = output(request, one);
        Optional<String> otherOutput = output(request, other);
        if (oneOutput.isEmpty() && otherOutput.isEmpty()) {
            return;
        }
        String output = oneOutput.or(() -> otherOutput).orElseThrow();
        RegionLease written = oneOutput.isPresent() ? one : other;
        RegionLease another = oneOutput.isPresent() ? other : one;
        String anotherTensor = oneOutput.isPresent() && otherOutput.isPresent()
                ? "output '" + otherOutput.get() + "'"
                : "input '" + input(request, another) + "'";
        throw GatunException.invalidArgument("output '" + output + "' in shared memory region '" + written.region()
                + "' overlaps " + anotherTensor + " in region '" + another.region()
                + "'; expected each output in memory of its own");
    }

    @SuppressWarnings("ReferenceEquality") // a claim is that very object
    private static Optional<String> output(InferenceRequest request, RegionLease window) {
        for (RequestedOutput output : request.outputs()) {
            if (output.destination()
                    .filter(destination -> destination == window)
                    .isPresent()) {
                return Optional.of(output.name());
            }
        }
        return Optional.empty();
    }

    private static String input(InferenceRequest request, RegionLease window) {
        for (Tensor tensor : request.inputs()) {
            if (tensor.liesIn(window)) {
                return tensor.spec().name();
            }
        }
        return "";
    }
}
