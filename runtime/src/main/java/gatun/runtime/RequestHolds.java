// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;

/** The claims on memory that a request owns. For one thread at a time. */
final class RequestHolds extends GrowingList<Hold> {
    private boolean closed;
    private boolean incomplete;

    RequestHolds() {}

    /** Gives up ownership of a claim; false where that was not owned. */
    boolean release(Hold hold) {
        boolean owned = takeOut(hold);
        incomplete |= owned;
        return owned;
    }

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

    /** Takes closed claims anew; false, with all closed, if one cannot be {@linkplain RegionLease#renew renewed}. */
    boolean renew() {
        if (incomplete) {
            return false;
        }
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
