// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import java.lang.foreign.MemorySegment;

/** Arguments of the calls that runs make. */
final class Pointers {
    private Pointers() {}

    /**
     * The address of memory that outlives the call: a run's own, or that of an instance, which is closed after its last
     * run. To pass the memory itself would have the JVM hold its arena during the call, each argument's, which takes
     * longer than small forests.
     */
    static MemorySegment to(MemorySegment memory) {
        return MemorySegment.ofAddress(memory.address());
    }
}
