// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;

/**
 * The main class of a process that has a small shared memory file system to itself: registers a sparse object that
 * fits, fills the file system, and tries another one.
 */
final class FullFileSystem {
    private FullFileSystem() {}

    public static void main(String[] arguments) {
        long mib = 1 << 20;
        try (BufferPool pool = new BufferPool(mib);
                SharedRegions regions = SharedRegions.open(pool);
                SharedMemoryObject fitting = SharedMemoryObject.posix("/fitting", 2 * mib);
                SharedMemoryObject late = SharedMemoryObject.posix("/late", 3 * mib)) {
            regions.register("fitting", fitting.key(), 0, 2 * mib);
            try {
                regions.register("late", late.key(), 0, 3 * mib);
                System.out.println("registered");
            } catch (GatunException e) {
                System.out.println(e.code() + " " + e.getMessage());
            }
            try (RegionLease lease = regions.borrow("fitting", 0, 2 * mib, RegionRegistry.Access.WRITE)) {
                lease.segment().fill((byte) 1);
                lease.settle();
                System.out.println("written");
            }
        }
    }
}
