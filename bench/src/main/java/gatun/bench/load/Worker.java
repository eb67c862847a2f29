// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * One thread of a load. Latencies begin when a request was due, not when it was sent, so that a delay by the server or
 * a lack of workers counts; failed requests have none. {@link #run} is for the worker's thread, {@link #stop} and the
 * {@code drain} methods for the measuring thread.
 */
final class Worker implements Runnable {
    static final int SIGNIFICANT_DIGITS = 3;

    private final Caller caller;
    private final Pace pace;
    private final Clock clock;
    private final SingleWriterRecorder latencies = new SingleWriterRecorder(SIGNIFICANT_DIGITS);
    private final LongAccumulator longestLag = new LongAccumulator(Math::max, 0);
    private final AtomicLong tensorBytes = new AtomicLong();
    private final TextTally failures;
    private final TextTally wrongResponses;
    // One for all requests, which make no garbage of their own.
    private final BooleanSupplier isStopped = this::isStopped;
    private volatile boolean stopped;
    private Histogram drained = latencies.getIntervalHistogram();

    Worker(Caller caller, Pace pace, Clock clock, TextTally failures, TextTally wrongResponses) {
        this.caller = caller;
        this.pace = pace;
        this.clock = clock;
        this.failures = failures;
        this.wrongResponses = wrongResponses;
    }

    @Override
    public void run() {
        while (!stopped && !Thread.currentThread().isInterrupted()) {
            try {
                one();
            } catch (RuntimeException e) {
                if (!stopped) {
                    failures.add(text(e));
                }
            }
        }
    }

    private void one() {
        caller.prepare();
        long due = pace.next(clock.nanoTime());
        clock.waitUntil(due, isStopped);
        if (stopped) {
            return;
        }
        longestLag.accumulate(clock.nanoTime() - due);
        caller.call();
        latencies.recordValue(Math.max(0, clock.nanoTime() - due));
        String wrong = caller.finish();
        tensorBytes.lazySet(tensorBytes.getPlain() + caller.tensorByteSize());
        if (!wrong.isEmpty()) {
            wrongResponses.add(wrong);
        }
    }

    private boolean isStopped() {
        return stopped;
    }

    /** Takes no more requests. */
    void stop() {
        stopped = true;
    }

    /** Adds the latencies since the last call, in nanoseconds. */
    void drainLatencies(Histogram sum) {
        drained = latencies.getIntervalHistogram(drained);
        sum.add(drained);
    }

    /** The longest time since the last call by which a request was sent later than it was due, in nanoseconds. */
    long drainLag() {
        return longestLag.getThenReset();
    }

    long tensorBytes() {
        return tensorBytes.get();
    }

    private static String text(RuntimeException failure) {
        String message = failure.getMessage();
        return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
    }

    /** Counts by text; keeps a limited number of different texts. Safe for any thread. */
    static final class TextTally {
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
}
