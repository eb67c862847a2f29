// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.memory.threads.SupervisedThread;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * Counts the runs that are on request threads at present, over all models. A virtual thread in native code holds its
 * carrier thread, and nothing takes it away: a run that was short a thousand times may take minutes for one input. So
 * they never hold the last carrier for long: where carriers can be added, {@link CarrierCompensator} adds one as soon
 * as the same runs hold all others; elsewhere one is always left. Thread-safe; never waits.
 *
 * <p>Each thread counts in one of several words, each in cache lines of its own, and nobody adds them up while all runs
 * are short and a carrier can be added: that is the way of nearly all runs, and no word of it is written by all cores.
 */
public final class InlineRunLimiter {
    /** That of this JVM, which has one set of carrier threads. */
    static final InlineRunLimiter OF_THIS_JVM = ofThisJvm();

    private static final int ENDED_SHIFT = 32;
    private static final long ENDED = (1L << ENDED_SHIFT) - 1;

    /** Longs in 128 bytes: processors fetch cache lines in pairs. */
    private static final int STRIDE = 16;

    private static final int MOST_STRIPES = 64;

    /** Spreads numbers of threads, which follow each other, over all bits. */
    private static final int SPREAD = 0x9E3779B9;

    /** In each word: the present runs in the lower half, the ended ones in the upper. The sum of all words counts. */
    private final AtomicLongArray stripes;

    private final int stripeShift;

    /** The number of runs up to which a carrier thread is left to others. */
    private final int sparing;

    /** How many runs may hold carrier threads. */
    private volatile int limit;

    /** Whether short runs are held to the limit, too: there may be more carriers than that. */
    private volatile boolean isStrict = true;

    private volatile LoanWatchdog.@Nullable Watch watch;

    /** @param carriers how many carrier threads there are */
    public InlineRunLimiter(int carriers) {
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.clamp(carriers, 2, MOST_STRIPES) - 1);
        stripeShift = Integer.SIZE - bits;
        stripes = new AtomicLongArray((1 + (1 << bits)) * STRIDE);
        sparing = carriers - 1;
        limit = sparing;
    }

    private static InlineRunLimiter ofThisJvm() {
        int carriers = Carriers.count();
        InlineRunLimiter runs = new InlineRunLimiter(carriers);
        runs.watchedBy(LoanWatchdog.OF_THIS_JVM.over(new CarrierCompensator(runs, Carriers::ofThisJvm, carriers)));
        return runs;
    }

    /** Has its runs watched from now on, or not, where there is no use in that. */
    void watchedBy(LoanWatchdog.@Nullable Watch newWatch) {
        watch = newWatch;
    }

    /** Limits runs that hold carriers; unless {@code strict}, as many short runs as carriers begin without a count. */
    void limit(int runs, boolean strict) {
        limit = runs;
        isStrict = strict;
    }

    /** A number that is the same while no run begins or ends. */
    long state() {
        long sum = 0;
        for (int i = STRIDE; i < stripes.length(); i += STRIDE) {
            sum += stripes.get(i);
        }
        return sum;
    }

    static int runs(long state) {
        return (int) state;
    }

    /** Whether as many runs held carriers as may, when {@link #state} was that. */
    boolean isFull(long state) {
        return runs(state) >= limit;
    }

    /**
     * Whether the calling thread may begin a run, after which it says {@link #end}. On a platform thread nobody waits
     * for a run, unless it is {@linkplain LentThread lent}, and while a carrier is left to others neither. Only short
     * ones take the last.
     *
     * @param typicalNanos how long it will probably take
     */
    public boolean tryBegin(long typicalNanos) {
        Thread thread = Thread.currentThread();
        if (!thread.isVirtual()) {
            return typicalNanos <= RunPlacement.LONG_WAIT_NANOS || !LentThread.isCurrent();
        }
        int stripe = stripe(thread);
        stripes.getAndAdd(stripe, 1);
        LoanWatchdog.Watch watching = watch;
        if (watching != null) {
            watching.noteLoan();
        }
        boolean isShort = typicalNanos <= RunTimeEstimator.SHORT_NANOS;
        if ((isShort && !isStrict) || runs(state()) <= (isShort ? limit : sparing)) {
            return true;
        }
        stripes.getAndAdd(stripe, -1);
        return false;
    }

    /** Ends the calling thread's run. */
    public void end() {
        Thread thread = Thread.currentThread();
        if (thread.isVirtual()) {
            stripes.getAndAdd(stripe(thread), ENDED);
        }
    }

    /** The word of a thread. The first is none: an array's head is in its cache line. */
    private int stripe(Thread thread) {
        int hash = (int) thread.threadId() * SPREAD;
        return (1 + (hash >>> stripeShift)) * STRIDE;
    }

    /** The threads that carry this JVM's virtual threads. */
    static final class Carriers {
        private static final String SCHEDULER = "jdk.management:type=VirtualThreadScheduler";
        private static final String PARALLELISM = "Parallelism";

        private Carriers() {}

        /** How many there are, as the JVM counts them: by logical processors, since what they carry mostly waits. */
        static int count() {
            return Integer.getInteger(
                    "jdk.virtualThreadScheduler.parallelism",
                    Runtime.getRuntime().availableProcessors());
        }

        /** Changes how many there are; empty where the JVM cannot do that, which is so before Java 24. */
        static Optional<IntConsumer> ofThisJvm() {
            try {
                MBeanServer server = ManagementFactory.getPlatformMBeanServer();
                ObjectName scheduler = new ObjectName(SCHEDULER);
                server.getAttribute(scheduler, PARALLELISM);
                return Optional.of(count -> set(server, scheduler, count));
            } catch (JMException e) {
                return Optional.empty();
            }
        }

        private static void set(MBeanServer server, ObjectName scheduler, int count) {
            try {
                server.setAttribute(scheduler, new Attribute(PARALLELISM, count));
            } catch (JMException e) {
                throw new IllegalStateException("the number of carrier threads cannot be changed to " + count, e);
            }
            // The scheduler looks for work for a new carrier when there is some next.
            Thread.ofVirtual().name("carrier-added").start(() -> {});
        }
    }

    /** Adds a carrier when long {@linkplain InlineRunLimiter inline runs} held all for two looks, 7.5 to 15 ms. */
    static final class CarrierCompensator implements LoanWatchdog.Lender {
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

        /** {@code adjustable} changes the number of carriers; asked late on its own thread, since it may take long. */
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
}
