// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatistics.RequestStatistics;
import gatun.runtime.Origin;
import gatun.runtime.statistics.Histogram.SingleWriterCounter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/** One instance's counters, written by its thread, read by any: maybe stale, never torn, one after the other. */
public final class InstanceCounters {
    /** One for each origin; a new array when a request comes from one for the first time. */
    private volatile StageHistograms[] stages = {};

    private final SingleWriterCounter inferences = new SingleWriterCounter();
    private final SingleWriterCounter lastEndedNanos = new SingleWriterCounter();
    private final ResponseTable responses = new ResponseTable();
    private final BySize<BatchCounters> batches = new BySize<>(BatchCounters::new, BatchCounters::batchSize);
    private final BySize<RequestCounters> requests = new BySize<>(RequestCounters::new, RequestCounters::batchSize);

    /** Counts an execution; a batch size of 0, for a model without a batch dimension, counts as 1. */
    public void executed(int batchSize, ExecutionTimes times) {
        batches.of(Math.max(1, batchSize)).executed(times);
        answered(times);
    }

    /** Counts the requests that were answered in a part of an execution, which is counted by itself. */
    public void answered(ExecutionTimes times) {
        // Before the requests: whoever sees one sees that there was a last execution.
        lastEndedNanos.set(times.endedNanos());
        int answered = 0;
        for (int i = 0; i < times.requestCount(); i++) {
            answered += times.inferences(i);
            requests.of(times.inferences(i)).answered(times, i);
            stages(times.origin(i)).answered(times, i);
        }
        inferences.add(answered);
    }

    private StageHistograms stages(Origin origin) {
        StageHistograms[] present = stages;
        for (StageHistograms stage : present) {
            if (stage.origin.equals(origin)) {
                return stage;
            }
        }
        StageHistograms added = new StageHistograms(origin);
        StageHistograms[] more = Arrays.copyOf(present, present.length + 1);
        more[present.length] = added;
        stages = more;
        return added;
    }

    /** The outcomes of the single responses of a decoupled model. */
    public ResponseTable responses() {
        return responses;
    }

    long successes() {
        return sum(stage -> stage.successes.get());
    }

    /** The items of the answered requests; not rows that stood for no request, or one that runs again. */
    long inferences() {
        return inferences.get();
    }

    long nanos(Function<StageHistograms, Histogram> durations) {
        return sum(stage -> durations.apply(stage).sumNanos());
    }

    private long sum(ToLongFunction<StageHistograms> counter) {
        long sum = 0;
        for (StageHistograms stage : stages) {
            sum += counter.applyAsLong(stage);
        }
        return sum;
    }

    void addTo(Map<Origin, StageLatencies> latencies) {
        for (StageHistograms stage : stages) {
            latencies.merge(stage.origin, stage.snapshot(), StageLatencies::plus);
        }
    }

    /** When the latest execution ended, as a reading of {@link System#nanoTime}; meaningless before the first. */
    long lastEndedNanos() {
        return lastEndedNanos.get();
    }

    List<BatchStatistics> batches() {
        return batches.snapshots(BatchCounters::snapshot);
    }

    List<RequestStatistics> requests() {
        return requests.snapshots(RequestCounters::snapshot);
    }

    /** Executions of one batch size. Written by the instance's thread only, read by any thread. */
    static final class BatchCounters {
        private final int batchSize;
        private final SingleWriterCounter executions = new SingleWriterCounter();
        private final SingleWriterCounter inputNanos = new SingleWriterCounter();
        private final SingleWriterCounter inferNanos = new SingleWriterCounter();
        private final SingleWriterCounter outputNanos = new SingleWriterCounter();

        BatchCounters(int batchSize) {
            this.batchSize = batchSize;
        }

        int batchSize() {
            return batchSize;
        }

        void executed(ExecutionTimes times) {
            executions.add(1);
            inputNanos.add(times.inferStartedNanos() - times.startedNanos());
            inferNanos.add(times.inferEndedNanos() - times.inferStartedNanos());
            outputNanos.add(times.endedNanos() - times.inferEndedNanos());
        }

        BatchStatistics snapshot() {
            return new BatchStatistics(
                    batchSize, executions.get(), inputNanos.get(), inferNanos.get(), outputNanos.get());
        }
    }

    /** Answered requests of one batch size. Written by the instance's thread only, read by any thread. */
    static final class RequestCounters {
        private final int batchSize;
        private final SingleWriterCounter count = new SingleWriterCounter();
        private final SingleWriterCounter requestNanos = new SingleWriterCounter();
        private final SingleWriterCounter queueNanos = new SingleWriterCounter();
        private final SingleWriterCounter inputNanos = new SingleWriterCounter();
        private final SingleWriterCounter inferNanos = new SingleWriterCounter();
        private final SingleWriterCounter outputNanos = new SingleWriterCounter();

        RequestCounters(int batchSize) {
            this.batchSize = batchSize;
        }

        int batchSize() {
            return batchSize;
        }

        void answered(ExecutionTimes times, int index) {
            queueNanos.add(times.queueNanos(index));
            inputNanos.add(times.inferStartedNanos() - times.startedNanos());
            inferNanos.add(times.inferEndedNanos() - times.inferStartedNanos());
            outputNanos.add(times.endedNanos() - times.inferEndedNanos());
            requestNanos.add(times.endedNanos() - times.arrivedNanos(index));
            count.add(1);
        }

        RequestStatistics snapshot() {
            return new RequestStatistics(
                    batchSize,
                    count.get(),
                    requestNanos.get(),
                    queueNanos.get(),
                    inputNanos.get(),
                    inferNanos.get(),
                    outputNanos.get());
        }
    }

    /** The durations of requests of one origin at one instance. Written by the instance's thread, read by any. */
    static final class StageHistograms {
        private final Origin origin;
        private final SingleWriterCounter successes = new SingleWriterCounter();
        final Histogram request = new Histogram();
        final Histogram queue = new Histogram();
        final Histogram input = new Histogram();
        final Histogram infer = new Histogram();
        final Histogram output = new Histogram();
        private final Histogram firstResponse = new Histogram();

        StageHistograms(Origin origin) {
            this.origin = origin;
        }

        void answered(ExecutionTimes times, int index) {
            long arrivedNanos = times.arrivedNanos(index);
            queue.add(times.queueNanos(index));
            input.add(times.inferStartedNanos() - times.startedNanos());
            infer.add(times.inferEndedNanos() - times.inferStartedNanos());
            output.add(times.endedNanos() - times.inferEndedNanos());
            request.add(times.endedNanos() - arrivedNanos);
            long firstNanos = times.firstResponseNanos(index);
            if (firstNanos != 0) {
                firstResponse.add(firstNanos - arrivedNanos);
            }
            // Last: who sees it sees the times of this request.
            successes.add(1);
        }

        StageLatencies snapshot() {
            return new StageLatencies(
                    request.snapshot(),
                    queue.snapshot(),
                    input.snapshot(),
                    infer.snapshot(),
                    output.snapshot(),
                    firstResponse.snapshot());
        }
    }

    /** When the stages of one execution began, as readings of {@link System#nanoTime}; each is taken once. */
    public interface ExecutionTimes {
        /** How many requests the execution answered. */
        int requestCount();

        /** The inferences of answered request {@code index}: its batch size, or 1 without a batch dimension. */
        int inferences(int index);

        /** Where the answered request {@code index} came from. */
        Origin origin(int index);

        /** The answered request {@code index} reached the runtime. */
        long arrivedNanos(int index);

        /** The first response to the answered request {@code index} went out; 0 unless the model is decoupled. */
        long firstResponseNanos(int index);

        /** An instance took it. */
        long startedNanos();

        /** How long the answered request {@code index} waited, in nanoseconds. */
        default long queueNanos(int index) {
            return startedNanos() - arrivedNanos(index);
        }

        /** The engine began. */
        long inferStartedNanos();

        /** The engine was done. */
        long inferEndedNanos();

        /** The outputs were in place. */
        long endedNanos();
    }

    /**
     * Counters for each batch size, up to {@link #MOST_SIZES}: a later new size counts with the next smaller one, since
     * clients choose sizes. Written by one thread only, read by any thread.
     */
    static final class BySize<C> {
        /** More sizes than anybody reads in statistics. */
        static final int MOST_SIZES = 4096;

        private final IntFunction<C> create;
        private final ToIntFunction<C> size;

        /** Ascending by batch size; a new array for each size that occurs for the first time. */
        private volatile Object[] counters = {};

        /** The one used last, which is nearly always the one wanted next. For the thread that adds. */
        private C recent;

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
}
