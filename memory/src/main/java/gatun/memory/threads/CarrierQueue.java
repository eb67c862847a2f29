// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The virtual threads that are ready to run and have no carrier, as the JDK counts them from Java 24 on. Asking takes some
 * ten nanoseconds for each carrier that there is. Safe for any thread.
 */
final class CarrierQueue {
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
            SupervisedThread.unstarted("carrier-queue", () -> found = isKnown()).start();
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
        /** Not in the Java that this is compiled for. */
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
                                .findVirtual(type, "getQueuedVirtualThreadCount", MethodType.methodType(long.class))
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
