// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * One well-meaning client: sends requests at an even pace on a thread of its own, checks each response, and takes the
 * times. Thread-safe.
 */
final class Traffic {
    /** One request and the check of its response. */
    @FunctionalInterface
    interface Exchange {
        /** Returns whether the response was right. */
        boolean once() throws Exception;
    }

    /**
     * The outcomes of the requests of some time.
     *
     * @param wrong those with a wrong response
     * @param failed those with none
     * @param nanos the times of those with a right response, in nanoseconds
     */
    record Outcome(long wrong, long failed, Histogram nanos) {}

    private static final int DIGITS = 3;

    private final String name;
    private final Exchange exchange;
    private final Thread thread;
    private volatile long intervalNanos;
    private volatile boolean stopped;

    private final Recorder nanos = new Recorder(DIGITS);
    private final LongAdder wrong = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private volatile String lastFailure = "";

    /** A client that sends one request after the other until it is {@linkplain #pace paced}. */
    Traffic(String name, Exchange exchange) {
        this.name = name;
        this.exchange = exchange;
        this.thread = Thread.ofPlatform().name("soak-" + name).unstarted(this::run);
    }

    String name() {
        return name;
    }

    void start() {
        thread.start();
    }

    /**
     * Sends a request each {@code nanos} nanoseconds from now on, as far as responses come so soon; 0 for without a
     * pause.
     */
    void pace(long nanos) {
        intervalNanos = nanos;
    }

    private void run() {
        long next = System.nanoTime();
        while (!stopped) {
            long begun = System.nanoTime();
            String failure = "";
            boolean right = false;
            try {
                right = exchange.once();
            } catch (Exception e) {
                failure = String.valueOf(e);
            }
            if (!stopped) {
                count(right, failure, System.nanoTime() - begun);
            }
            long interval = intervalNanos;
            // Requests that could not be sent in time are not made up for: the server gets a share of its capacity and
            // no more.
            next = Math.max(next + interval, System.nanoTime() - interval);
            long pause = next - System.nanoTime();
            if (interval > 0 && pause > 0) {
                LockSupport.parkNanos(pause);
            }
        }
    }

    private void count(boolean right, String failure, long took) {
        if (right) {
            nanos.recordValue(took);
        } else if (failure.isEmpty()) {
            wrong.increment();
            lastFailure = "a wrong answer";
        } else {
            failed.increment();
            lastFailure = failure;
        }
    }

    /** The outcomes of the requests since the last call. */
    Outcome take() {
        return new Outcome(wrong.sumThenReset(), failed.sumThenReset(), nanos.getIntervalHistogram());
    }

    /** Why the last request failed that did; empty when none has. */
    String lastFailure() {
        return lastFailure;
    }

    /** Sends no more, and waits for the response that is under way. */
    void stop() {
        stopped = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
