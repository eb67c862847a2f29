// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import java.util.Arrays;

/** How long the requests of one connection took, in nanoseconds, one by one. Used by one thread until that ends. */
final class Latencies {
    private long[] nanos = new long[1 << 12];
    private int size;

    void add(long value) {
        if (size == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * size);
        }
        nanos[size++] = value;
    }

    /** All of them, sorted. */
    static long[] sorted(Iterable<Latencies> connections) {
        long[] all = {};
        for (Latencies connection : connections) {
            int begin = all.length;
            all = Arrays.copyOf(all, begin + connection.size);
            System.arraycopy(connection.nanos, 0, all, begin, connection.size);
        }
        Arrays.sort(all);
        return all;
    }
}
