// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.util.Arrays;

/** Which levels of nested JSON are objects, and which arrays: a bit for each level. For one thread. */
final class Nesting {
    private long[] objects = new long[2];

    void open(int level, boolean object) {
        int word = level / Long.SIZE;
        if (word >= objects.length) {
            objects = Arrays.copyOf(objects, 2 * word);
        }
        long bit = 1L << level;
        objects[word] = object ? objects[word] | bit : objects[word] & ~bit;
    }

    boolean isObject(int level) {
        return (objects[level / Long.SIZE] >>> level & 1) != 0;
    }
}
