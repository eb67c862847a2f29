// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * The virtual threads that are ready to run and have no carrier, as the JDK counts them from Java 24 on. Asking takes some
 * ten nanoseconds for each carrier that there is. Safe for any thread.
 */
final class CarrierQueue {
    /** Not in the Java that this is compiled for. */
    private static final String SCHEDULER = "jdk.management.VirtualThreadSchedulerMXBean";

    private static final AtomicBoolean SOUGHT = new AtomicBoolean();
    private static volatile LongSupplier length = CarrierQueue::seek;

    private CarrierQueue() {}

    /** Whether nobody waits for a carrier; false where that is not known. */
    static boolean isEmpty() {
        return length.getAsLong() == 0;
    }

    /** The JDK's management takes tens of milliseconds to be there, for which no request is to wait. */
    private static long seek() {
        if (SOUGHT.compareAndSet(false, true)) {
            SupervisedThread.unstarted("carrier-queue", () -> length = find().orElse(() -> -1))
                    .start();
        }
        return -1;
    }

    /** Tells how many wait; empty where the JDK does not. */
    static Optional<LongSupplier> find() {
        try {
            Class<? extends PlatformManagedObject> type =
                    Class.forName(SCHEDULER).asSubclass(PlatformManagedObject.class);
            PlatformManagedObject scheduler = ManagementFactory.getPlatformMXBean(type);
            if (scheduler == null) {
                return Optional.empty();
            }
            MethodHandle count = MethodHandles.publicLookup()
                    .findVirtual(type, "getQueuedVirtualThreadCount", MethodType.methodType(long.class))
                    .bindTo(scheduler);
            return Optional.of(() -> ask(count));
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static long ask(MethodHandle count) {
        try {
            return (long) count.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError("the JDK declares no checked exception here", t);
        }
    }
}
