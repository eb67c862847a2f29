// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

/**
 * Counters for each batch size that has occurred, up to {@link #MOST_SIZES} of them: a size that occurs for the first
 * time later counts with the next smaller one, since clients choose sizes. Added to by one thread only, read by any
 * thread.
 *
 * @param <C> the counters
 */
final class BySize<C> {
    /** More sizes than anybody reads in statistics. */
    static final int MOST_SIZES = 4096;

    private final IntFunction<C> create;
    private final ToIntFunction<C> size;

    /** Ascending by batch size; a new array for each size that occurs for the first time. */
    private volatile Object[] counters = {};

    /** The one used last, which is nearly always the one wanted next. For the thread that adds. */
    private C recent;

    /**
     * No counters yet. {@code create} makes the counters of a batch size. {@code size} is the batch size of counters.
     */
    BySize(IntFunction<C> create, ToIntFunction<C> size) {
        this.create = create;
        this.size = size;
        recent = create.apply(0);
    }

    /** The counters of a batch size, which is at least 1. */
    C of(int batchSize) {
        if (size.applyAsInt(recent) != batchSize) {
            recent = find(batchSize);
        }
        return recent;
    }

    private C find(int batchSize) {
        Object[] present = counters;
        int low = 0;
        int high = present.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (size.applyAsInt(at(present, middle)) < batchSize) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < present.length && size.applyAsInt(at(present, low)) == batchSize) {
            return at(present, low);
        }
        if (present.length == MOST_SIZES) {
            return at(present, Math.max(0, low - 1));
        }
        C added = create.apply(batchSize);
        Object[] more = Arrays.copyOf(present, present.length + 1);
        System.arraycopy(present, low, more, low + 1, present.length - low);
        more[low] = added;
        counters = more;
        return added;
    }

    <S> List<S> snapshots(Function<C, S> snapshot) {
        Object[] present = counters;
        List<S> snapshots = new ArrayList<>(present.length);
        for (Object each : present) {
            snapshots.add(snapshot.apply(cast(each)));
        }
        return snapshots;
    }

    private C at(Object[] present, int index) {
        return cast(present[index]);
    }

    @SuppressWarnings("unchecked") // only counters are put there
    private C cast(Object each) {
        return (C) each;
    }
}
