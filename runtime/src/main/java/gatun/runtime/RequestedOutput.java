// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.RegionLease;
import java.util.Objects;
import java.util.Optional;

/**
 * An output that the client named.
 *
 * @param name the output's name in the model
 * @param destination where the engine writes it; empty for a pooled buffer. The request owns the lease.
 * @param classification the number of classes to give instead of the tensor; 0 for the tensor itself
 */
public record RequestedOutput(String name, Optional<RegionLease> destination, int classification) {
    /** Checks that nothing is missing. */
    public RequestedOutput {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(destination, "destination");
    }

    /** The same in a pooled buffer. */
    public RequestedOutput withoutDestination() {
        return destination.isEmpty() ? this : new RequestedOutput(name, Optional.empty(), classification);
    }

    /** The tensor itself, in a pooled buffer. */
    public static RequestedOutput of(String name) {
        return new RequestedOutput(name, Optional.empty(), 0);
    }
}
