// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import gatun.bindings.posix.posix_h;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Sleeping on a 32-bit word of memory that processes share, and waking who sleeps there: Linux's {@code futex}. A wait
 * may return for no reason, so the caller looks at the word again. All methods are thread-safe and allocate nothing; a
 * wait holds its carrier thread and does not belong on a virtual thread.
 */
public final class Futex {
    /** Bytes of a {@code struct timespec}. */
    public static final long TIMESPEC_BYTES = 16;

    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long NO_TIMEOUT = 0;

    /** {@code FUTEX_WAIT} and {@code FUTEX_WAKE}, without the flag for words of one process. */
    private static final long WAIT = 0;

    private static final long WAKE = 1;

    private static final long FUTEX = Machine.current().futexNumber();

    /** The number of {@code futex_waitv}, which is the same on every architecture. */
    private static final long SYS_FUTEX_WAITV = 449;

    /** {@code long syscall(long number, ...)} with six arguments, addresses among them. */
    private static final MethodHandle SYSCALL = posix_h.syscall
            .makeInvoker(posix_h.C_LONG, posix_h.C_LONG, posix_h.C_LONG, posix_h.C_LONG, posix_h.C_LONG, posix_h.C_LONG)
            .handle();

    private Futex() {}

    /** Sleeps while the word at {@code address} is {@code expected}, until somebody wakes it. */
    public static void await(long address, int expected) {
        call(FUTEX, address, WAIT, expected, NO_TIMEOUT, 0, 0);
    }

    /**
     * As {@link #await(long, int)}, for {@code nanos} at most.
     *
     * @param timespec room of {@link #TIMESPEC_BYTES} that nobody else uses meanwhile
     */
    public static void await(long address, int expected, long nanos, MemorySegment timespec) {
        timespec.set(posix_h.C_LONG, 0, nanos / NANOS_PER_SECOND);
        timespec.set(posix_h.C_LONG, Long.BYTES, nanos % NANOS_PER_SECOND);
        call(FUTEX, address, WAIT, expected, timespec.address(), 0, 0);
    }

    /** Wakes one who sleeps on the word at {@code address}. */
    public static void wake(long address) {
        call(FUTEX, address, WAKE, 1, NO_TIMEOUT, 0, 0);
    }

    /** Whether this system can wait for several words at a time, as a {@link FutexSet} does: Linux 5.16 can. */
    public static boolean supportsSets() {
        return Sets.SUPPORTED;
    }

    /** Sleeps until one of {@code count} words is woken or does not have its value. */
    static void awaitAny(MemorySegment waiters, int count) {
        call(SYS_FUTEX_WAITV, waiters.address(), count, 0, NO_TIMEOUT, 0, 0);
    }

    private static void call(long number, long a, long b, long c, long d, long e, long f) {
        try {
            long ignored = (long) SYSCALL.invokeExact(number, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    private static final class Sets {
        static final boolean SUPPORTED = probe();

        /** Waits for no word at all, which a kernel that knows the call refuses as an argument. */
        private static boolean probe() {
            MethodHandle probe = SystemCall.capturingVariadic(
                    posix_h.syscall.address(),
                    1,
                    FunctionDescriptor.of(
                            posix_h.C_LONG,
                            posix_h.C_LONG,
                            posix_h.C_LONG,
                            posix_h.C_LONG,
                            posix_h.C_LONG,
                            posix_h.C_LONG,
                            posix_h.C_LONG));
            long result = SystemCall.attempt(
                    (state, scratch) -> (long) probe.invokeExact(state, SYS_FUTEX_WAITV, 0L, 0L, 0L, 0L, 0L));
            return result == -Errno.EINVAL.code();
        }
    }

    /** Words that one thread waits for ({@code futex_waitv}), with expected values. Not thread-safe. */
    public static final class FutexSet {
        /** The most words. */
        public static final int CAPACITY = 128;

        /** {@code struct futex_waitv}: value and address of 64 bits each, flags and padding of 32 bits each. */
        private static final long WAITER_BYTES = 24;

        private static final long ADDRESS_OFFSET = 8;
        private static final long FLAGS_OFFSET = 16;

        /** {@code FUTEX2_SIZE_U32}, for words that processes share. */
        private static final int SIZE_32 = 2;

        private final MemorySegment waiters = Arena.ofAuto().allocate(CAPACITY * WAITER_BYTES, Long.BYTES);
        private int count;

        /** An empty set. */
        public FutexSet() {}

        /** Takes all words out. */
        public void clear() {
            count = 0;
        }

        /** Adds a word, mapped while this waits. Throws IndexOutOfBoundsException beyond {@link #CAPACITY}. */
        public void add(long address, int expected) {
            long at = count * WAITER_BYTES;
            waiters.set(JAVA_LONG, at, Integer.toUnsignedLong(expected));
            waiters.set(JAVA_LONG, at + ADDRESS_OFFSET, address);
            waiters.set(JAVA_INT, at + FLAGS_OFFSET, SIZE_32);
            count++;
        }

        /** Sleeps until one of the words is woken, or has another value than expected; perhaps for no reason. */
        public void await() {
            Futex.awaitAny(waiters, count);
        }
    }
}
