// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.runtime.execution.SharedHolds;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A tensor of a run that was made, or left out by the client. Each step that reads it and the response have claims of
 * their own on its memory. Guarded by the lock of {@link RunThreads} while steps that read it may run.
 */
final class EnsembleTensor {
    private final @Nullable Tensor tensor;
    private final Optional<RegionLease> region;
    private final Queue<Hold> claims = new ArrayDeque<>();

    /** The memory that readers get claims on when their number is not known beforehand; null where it is. */
    private final @Nullable SharedHolds memory;

    private EnsembleTensor(@Nullable Tensor tensor, Optional<RegionLease> region, @Nullable SharedHolds memory) {
        this.tensor = tensor;
        this.region = region;
        this.memory = memory;
    }

    static EnsembleTensor absent() {
        return new EnsembleTensor(null, Optional.empty(), null);
    }

    /** A tensor in memory that the ensemble's request keeps valid: in {@code region}, or other memory when empty. */
    static EnsembleTensor borrowed(Tensor tensor, Optional<RegionLease> region) {
        return new EnsembleTensor(tensor, region, null);
    }

    /** A tensor in memory of our own, with {@code readers} claims on it. */
    static EnsembleTensor owned(Tensor tensor, SharedHolds memory, int readers) {
        EnsembleTensor made = new EnsembleTensor(tensor, Optional.empty(), null);
        for (int i = 0; i < readers; i++) {
            made.claims.add(memory.share());
        }
        return made;
    }

    /** A tensor in memory of our own that any number of runs read until it is released. */
    static EnsembleTensor kept(Tensor tensor, SharedHolds memory) {
        EnsembleTensor made = new EnsembleTensor(tensor, Optional.empty(), memory);
        made.claims.add(memory.share());
        return made;
    }

    /** The tensor; empty when the client left it out. */
    Optional<Tensor> tensor() {
        return Optional.ofNullable(tensor);
    }

    Optional<RegionLease> region() {
        return region;
    }

    /** The claim of one reader, who owns it from now on; empty when the memory is not ours. */
    Optional<Hold> claim() {
        return memory == null ? Optional.ofNullable(claims.poll()) : Optional.of(memory.share());
    }

    void release() {
        for (Hold claim = claims.poll(); claim != null; claim = claims.poll()) {
            claim.close();
        }
    }
}
