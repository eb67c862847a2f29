// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;

/** The claims on memory that a request owns. For one thread at a time. */
final class RequestHolds extends GrowingList<Hold> {
    private boolean closed;

    /** No claims. */
    RequestHolds() {}

    /** Closes all claims; false where that was done before. */
    boolean close() {
        if (closed) {
            return false;
        }
        closed = true;
        for (int i = 0; i < size(); i++) {
            get(i).close();
        }
        return true;
    }

    /**
     * Takes all claims anew after they were closed.
     *
     * @return false where one of them is not {@linkplain RegionLease#renew to be had again}; all are closed then
     */
    boolean renew() {
        for (int i = 0; i < size(); i++) {
            if (!(get(i) instanceof RegionLease lease && lease.renew())) {
                for (int renewed = 0; renewed < i; renewed++) {
                    get(renewed).close();
                }
                return false;
            }
        }
        closed = false;
        return true;
    }
}
