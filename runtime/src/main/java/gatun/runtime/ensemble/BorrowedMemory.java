// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Tells a member that an input's memory is not its to keep: it lies in a client's region, or belongs to whoever called.
 * The ensemble's own request keeps it valid until all members have answered.
 *
 * @param tensor what lies there
 * @param lease the claim on the region that the ensemble's request owns; empty where it is no region
 */
record BorrowedMemory(Tensor tensor, Optional<RegionLease> lease) implements RegionLease {
    @Override
    public MemorySegment segment() {
        return tensor.bytes();
    }

    @Override
    public Optional<DeviceMemory> device() {
        return tensor.device();
    }

    @Override
    public long byteSize() {
        return tensor.byteSize();
    }

    @Override
    public void settle() {
        lease.ifPresent(RegionLease::settle);
    }

    @Override
    public void close() {
        // The ensemble's request owns the claim.
    }
}
