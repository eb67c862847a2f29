// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.memory.threads.SupervisedThread;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * Sees to it that {@link InlineRuns} which have become long leave a carrier thread to everybody else: while the same
 * runs hold all carriers from one look to the next there is one carrier more. A platform thread looks, and only while
 * runs hold all carriers now and then. Thread-safe.
 */
final class CarrierWatch {
    /** Between two looks: for so long, and twice as long at most, runs may hold all carriers. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** The thread ends after this many looks that found carriers left. */
    private static final int QUIET_LOOKS = 200;

    private final InlineRuns runs;
    private final Supplier<Optional<IntConsumer>> adjustable;
    private final int carriers;
    private final AtomicBoolean watching = new AtomicBoolean();

    /**
     * A watch over {@code runs}.
     *
     * @param adjustable changes the number of carriers; asked at the first look, for that may take long
     */
    CarrierWatch(InlineRuns runs, Supplier<Optional<IntConsumer>> adjustable) {
        this(runs, adjustable, Carriers.count());
    }

    /** The same with a number of carriers. */
    CarrierWatch(InlineRuns runs, Supplier<Optional<IntConsumer>> adjustable, int carriers) {
        this.runs = runs;
        this.adjustable = adjustable;
        this.carriers = carriers;
    }

    /** Runs hold as many carriers as they may. Costs a read while the thread looks. */
    void wakeUp() {
        if (!watching.get() && watching.compareAndSet(false, true)) {
            SupervisedThread.start("carrier-watch", this::watch);
        }
    }

    private void watch() {
        Optional<IntConsumer> parallelism = adjustable.get();
        if (parallelism.isEmpty()) {
            return; // for good: one carrier is always left
        }
        // From now on runs may take the last carrier as well, for a moment.
        runs.limit(carriers);
        watch(parallelism.get());
        watching.set(false);
        if (runs.isFull(runs.state())) {
            // They came between the last look and the end, and perhaps saw a thread that would still look.
            wakeUp();
        }
    }

    private void watch(IntConsumer parallelism) {
        boolean added = false;
        long before = runs.state();
        int quiet = 0;
        while (added || quiet < QUIET_LOOKS) {
            LockSupport.parkNanos(this, PERIOD_NANOS);
            long now = runs.state();
            boolean full = runs.isFull(now);
            if (full && now == before && !added) {
                parallelism.accept(carriers + 1);
                added = true;
            } else if (!full && added) {
                parallelism.accept(carriers);
                added = false;
            }
            quiet = full ? 0 : quiet + 1;
            before = now;
        }
    }
}
