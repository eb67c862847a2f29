// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.memory.threads.SupervisedThread;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Adds a carrier when long {@linkplain InlineRunLimiter inline runs} held all for two looks, 7.5 to 15 ms. */
final class CarrierCompensator implements LoanWatchdog.Lender {
    /** The limit, in times of the usual number. A second is for runs that begin on a carrier that is to go. */
    private static final int MOST = 2;

    private final InlineRunLimiter runs;
    private final Supplier<Optional<IntConsumer>> adjustable;
    private final int carriers;

    /** Changes the number of carriers; null while nobody knows whether that can be done. */
    private volatile @Nullable IntConsumer parallelism;

    // Of the watchdog's thread.
    private boolean asked;
    private int present;
    private long seen;

    /**
     * Compensates for {@code runs}.
     *
     * @param adjustable changes the number of carriers, where that can be done; asked at the first look, on a thread of
     *     its own, for that may take long
     */
    CarrierCompensator(InlineRunLimiter runs, Supplier<Optional<IntConsumer>> adjustable, int carriers) {
        this.runs = runs;
        this.adjustable = adjustable;
        this.carriers = carriers;
        present = carriers;
    }

    @Override
    public boolean isLending() {
        return present > carriers || InlineRunLimiter.runs(runs.state()) > 0;
    }

    @Override
    public void look() {
        if (!asked) {
            asked = true;
            SupervisedThread.start("carrier-count", this::ask);
        }
        IntConsumer known = parallelism;
        if (known == null) {
            return;
        }
        long now = runs.state();
        boolean full = runs.isFull(now);
        if (full && now == seen && present <= InlineRunLimiter.runs(now) && present < MOST * carriers) {
            present++;
            runs.limit(carriers, true); // before there is one, which no run is to take
            known.accept(present);
        } else if (!full && present > carriers) {
            present = carriers;
            known.accept(present);
            runs.limit(carriers, false);
        }
        seen = now;
    }

    private void ask() {
        Optional<IntConsumer> answer = adjustable.get();
        if (answer.isEmpty()) {
            runs.watchedBy(null); // for good: one carrier is always left
            return;
        }
        // From now on runs may take the last carrier as well, for a moment.
        runs.limit(carriers, false);
        parallelism = answer.get();
    }
}
