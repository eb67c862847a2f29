package gatun.runtime.statistics;

import gatun.runtime.BatchStatistics;
import java.util.Arrays;
import java.util.List;

/**
 * What one instance has done. Written by the instance's thread only, read by any thread: a value may be stale but is never
 * torn, and the values of one execution may be seen one after the other.
 */
public final class InstanceCounters {
    private final Tally successes = new Tally();
    private final Tally requestNanos = new Tally();
    private final Tally queueNanos = new Tally();
    private final Tally inputNanos = new Tally();
    private final Tally inferNanos = new Tally();
    private final Tally outputNanos = new Tally();
    private final Tally lastEndedNanos = new Tally();

    /** Ascending by batch size; a new array for each size that is executed for the first time. */
    private volatile BatchCounters[] batches = {};

    /** The one used last, which is nearly always the one wanted next. For the instance's thread. */
    private BatchCounters recent = new BatchCounters(0);

    /**
     * Counts an execution.
     *
     * @param batchSize its batch size; 0, which counts as 1, when the model has no batch dimension
     * @param moments when its stages were, and how many requests it answered
     */
    public void executed(int batchSize, Moments moments) {
        batch(Math.max(1, batchSize)).executed(moments);
        int requests = moments.requestCount();
        requestNanos.add(requests * moments.endedNanos() - moments.arrivedNanosSum());
        queueNanos.add(requests * moments.startedNanos() - moments.arrivedNanosSum());
        inputNanos.add(requests * (moments.inferStartedNanos() - moments.startedNanos()));
        inferNanos.add(requests * (moments.inferEndedNanos() - moments.inferStartedNanos()));
        outputNanos.add(requests * (moments.endedNanos() - moments.inferEndedNanos()));
        lastEndedNanos.set(moments.endedNanos());
        // Last: who sees it sees that there was a last execution.
        successes.add(requests);
    }

    private BatchCounters batch(int batchSize) {
        if (recent.batchSize() != batchSize) {
            recent = find(batchSize);
        }
        return recent;
    }

    private BatchCounters find(int batchSize) {
        BatchCounters[] present = batches;
        int low = 0;
        int high = present.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (present[middle].batchSize() < batchSize) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < present.length && present[low].batchSize() == batchSize) {
            return present[low];
        }
        BatchCounters added = new BatchCounters(batchSize);
        BatchCounters[] more = Arrays.copyOf(present, present.length + 1);
        System.arraycopy(present, low, more, low + 1, present.length - low);
        more[low] = added;
        batches = more;
        return added;
    }

    long successes() {
        return successes.get();
    }

    long requestNanos() {
        return requestNanos.get();
    }

    long queueNanos() {
        return queueNanos.get();
    }

    long inputNanos() {
        return inputNanos.get();
    }

    long inferNanos() {
        return inferNanos.get();
    }

    long outputNanos() {
        return outputNanos.get();
    }

    /** When the latest execution ended, as a reading of {@link System#nanoTime}; meaningless before the first. */
    long lastEndedNanos() {
        return lastEndedNanos.get();
    }

    /** The executions by batch size, ascending. */
    List<BatchStatistics> batches() {
        return Arrays.stream(batches).map(BatchCounters::snapshot).toList();
    }
}
