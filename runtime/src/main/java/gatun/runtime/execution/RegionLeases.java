// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import java.util.List;

/** The leases on clients' regions among the holds of a request. */
final class RegionLeases {
    private RegionLeases() {}

    /** Ends the use of every region: makes results visible to the client and fails when one was taken away. */
    static void settle(List<Hold> holds) {
        for (int i = 0; i < holds.size(); i++) {
            if (holds.get(i) instanceof RegionLease lease) {
                lease.settle();
            }
        }
    }

    /** Whether there are none, but other holds: no client can take the memory away or change it. */
    static boolean isNoneIn(List<Hold> holds) {
        for (int i = 0; i < holds.size(); i++) {
            if (holds.get(i) instanceof RegionLease) {
                return false;
            }
        }
        return !holds.isEmpty();
    }
}
