// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives a virtual thread's carrier to others now and then while the thread works through many bytes. Nothing takes a
 * carrier away from a virtual thread that computes, so that as many long requests as there are carriers would leave
 * none for short ones. One for each piece of work; costs nothing before its first step is done. Not thread-safe.
 */
public final class CooperativeYield {
    /** Bytes between two yields of work like parsing and inflating, a millisecond or two. */
    public static final int STEP = 256 * 1024;

    /** The same for deflating, which takes longer. */
    public static final int DEFLATION_STEP = 32 * 1024;

    /** The same for copying, which moves eight bytes in the time that parsing takes for one. */
    public static final int COPY_STEP = 8 * STEP;

    private static final LongAdder COUNT = new LongAdder();

    private final int step;
    private long left;

    /** Work of which nothing is done, with {@code step} bytes between two yields. */
    public CooperativeYield(int step) {
        this.step = step;
        this.left = step;
    }

    /** So many more bytes have been worked through. To be called where the thread holds no lock. */
    public void worked(long byteSize) {
        left -= byteSize;
        if (left <= 0) {
            left = step;
            now();
        }
    }

    /**
     * Where a loop over bytes is to stop that stands at {@code position}: at {@code end}, or where it yields before
     * that. Costs a loop nothing for each of its bytes:
     *
     * <pre>{@code
     * for (long stop = stop(at, end); at < end; stop = yieldAt(at, end)) {
     *     while (at < stop) {
     *         // one byte after the other
     *     }
     * }
     * }</pre>
     */
    public static long stop(long position, long end) {
        return Math.min(end, position + STEP);
    }

    /** Yields where a loop that {@link #stop} has stopped goes on, and returns where it is to stop next. */
    public static long yieldAt(long position, long end) {
        if (position < end) {
            now();
        }
        return stop(position, end);
    }

    /** How often virtual threads of this process have yielded by this class. */
    public static long count() {
        return COUNT.sum();
    }

    /** Yields to threads that wait for a carrier; for work that counts itself. Not under a lock. */
    @SuppressWarnings("ThreadPriorityCheck") // the scheduler of virtual threads is the JDK's own
    public static void now() {
        if (Thread.currentThread().isVirtual()) {
            COUNT.increment();
            // Either alone starves others for seconds: a carrier goes on with its own queue while that has threads,
            // where a yield puts this one, and with the queue that it served last, where the timer of a park puts it.
            // One after the other comes to all queues.
            Thread.yield();
            LockSupport.parkNanos(1);
        }
    }

    /**
     * The time that a virtual thread keeps its carrier without waiting, and when it gives way: threads that always find
     * their clients' next requests would leave no carrier to others. One for each thread's work; not thread-safe.
     */
    public static final class CarrierTimeSlice {
        /** The longest turn: of many short requests, or of one that takes longer. */
        private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

        /** What takes so long has waited, and let others have the carrier. */
        private static final long WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

        private final BooleanSupplier isNobodyWaiting;
        private long beganNanos = System.nanoTime();

        /** A turn that begins now. */
        public CarrierTimeSlice() {
            this(CarrierQueue::isEmpty);
        }

        CarrierTimeSlice(BooleanSupplier isNobodyWaiting) {
            this.isNobodyWaiting = isNobodyWaiting;
        }

        /**
         * Gives way before what may wait, if the turn was long and others wait, or may do. Call it without a lock.
         * Returns a reading of {@link System#nanoTime} for {@link #end}.
         */
        public long begin() {
            long now = System.nanoTime();
            if (now - beganNanos < LONGEST_NANOS) {
                return now;
            }
            // Giving way takes a tenth of such a turn, and the carrier may fall asleep.
            if (!isNobodyWaiting.getAsBoolean()) {
                CooperativeYield.now();
            }
            beganNanos = System.nanoTime();
            return beganNanos;
        }

        /** The thread has done what could have waited. */
        public void end(long begunNanos) {
            long now = System.nanoTime();
            if (now - begunNanos >= WAIT_NANOS) {
                beganNanos = now;
            }
        }

        /** Ready virtual threads without a carrier, by the JDK from Java 24 on. Some 10 ns a carrier. Thread-safe. */
        static final class CarrierQueue {
            private static final AtomicBoolean SOUGHT = new AtomicBoolean();
            private static volatile boolean found;

            private CarrierQueue() {}

            /** Whether nobody waits for a carrier; false where that is not known. */
            static boolean isEmpty() {
                if (!found) {
                    seek();
                    return false;
                }
                return Scheduler.waiting() == 0;
            }

            /** The JDK's management takes tens of milliseconds to be there, for which no request is to wait. */
            private static void seek() {
                if (SOUGHT.compareAndSet(false, true)) {
                    SupervisedThread.unstarted("carrier-queue", () -> found = isKnown())
                            .start();
                }
            }

            /** Whether the JDK tells how many wait. */
            static boolean isKnown() {
                return Scheduler.COUNT != null;
            }

            /** How many wait; a negative number where that is not known. */
            static long length() {
                return Scheduler.waiting();
            }

            /** The JDK's counter, sought when this class is first used: a constant, through which compiled code calls directly. */
            private static final class Scheduler {
                private static final String TYPE = "jdk.management.VirtualThreadSchedulerMXBean";
                static final @Nullable MethodHandle COUNT = find();

                private static @Nullable MethodHandle find() {
                    try {
                        Class<? extends PlatformManagedObject> type =
                                Class.forName(TYPE).asSubclass(PlatformManagedObject.class);
                        PlatformManagedObject scheduler = ManagementFactory.getPlatformMXBean(type);
                        return scheduler == null
                                ? null
                                : MethodHandles.publicLookup()
                                        .findVirtual(
                                                type, "getQueuedVirtualThreadCount", MethodType.methodType(long.class))
                                        .bindTo(scheduler);
                    } catch (ReflectiveOperationException | IllegalArgumentException e) {
                        return null;
                    }
                }

                static long waiting() {
                    MethodHandle count = COUNT;
                    if (count == null) {
                        return -1;
                    }
                    try {
                        return (long) count.invokeExact();
                    } catch (RuntimeException | Error e) {
                        throw e;
                    } catch (Throwable t) {
                        throw new AssertionError("the JDK declares no checked exception here", t);
                    }
                }
            }
        }
    }
}
