// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts by text; keeps a limited number of different texts. Safe for any thread. */
final class TextTally {
    private static final int GREATEST_COUNT_OF_TEXTS = 20;
    private static final String OTHERS = "other texts";

    private final ConcurrentHashMap<String, LongAdder> counts = new ConcurrentHashMap<>();

    void add(String text) {
        LongAdder known = counts.get(text);
        if (known == null) {
            String kept = counts.size() < GREATEST_COUNT_OF_TEXTS ? text : OTHERS;
            known = counts.computeIfAbsent(kept, none -> new LongAdder());
        }
        known.increment();
    }

    /** The counts since the last call. */
    Map<String, Long> drain() {
        Map<String, Long> drained = new TreeMap<>();
        counts.forEach((text, adder) -> {
            long count = adder.sumThenReset();
            if (count > 0) {
                drained.put(text, count);
            }
        });
        return drained;
    }
}
