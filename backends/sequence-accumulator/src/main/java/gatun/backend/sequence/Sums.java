// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The sums of the sequences that an instance serves. A sequence that the scheduler gave up for being idle is not told
 * of: its sum goes when there are more than there can be sequences, of which it is the one not used for longest. Used
 * by the instance's thread only.
 */
final class Sums {
    private final Map<Object, Integer> bySequence;

    /** @param limit how many sequences there can be at a time */
    Sums(int limit) {
        bySequence = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Object, Integer> eldest) {
                return size() > limit;
            }
        };
    }

    /** Sets the sum of a sequence that begins, or adds to it; returns it. A sum beyond INT32 wraps around. */
    int add(Object sequence, boolean starts, int value) {
        int sum = starts ? value : bySequence.getOrDefault(sequence, 0) + value;
        bySequence.put(sequence, sum);
        return sum;
    }

    /** Forgets a sequence that has ended. */
    void end(Object sequence) {
        bySequence.remove(sequence);
    }

    int count() {
        return bySequence.size();
    }
}
