// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import gatun.it.harness.SharedObject;

/** A client in a process of its own: makes a shared memory object, prints its key, and waits to be killed. */
public final class RegionExporter {
    private RegionExporter() {}

    /** Ends by itself only when its input ends. */
    public static void main(String[] arguments) throws Exception {
        try (SharedObject object = SharedObject.create(256)) {
            System.out.println("exported " + object.key());
            while (System.in.read() >= 0) {
                // Nobody writes: waits for the end.
            }
        }
    }
}
