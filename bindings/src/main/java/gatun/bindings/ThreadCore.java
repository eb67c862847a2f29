// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import gatun.bindings.words.WordFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;

/** The core that the calling thread runs on, in Linux. */
public final class ThreadCore {
    // int sched_getcpu(void)
    private static final MethodHandle CURRENT = current("sched_getcpu");
    // int sched_getaffinity(pid_t pid, size_t cpusetsize, cpu_set_t *mask)
    private static final MethodHandle GET_AFFINITY = WordFunctions.find("sched_getaffinity", 3);
    private static final MethodHandle SET_AFFINITY = WordFunctions.find("sched_setaffinity", 3);
    // int sched_yield(void)
    private static final MethodHandle YIELD = WordFunctions.find("sched_yield", 0);

    /** Bytes of a bit set of cores; on larger machines the kernel refuses, and threads stay where they are. */
    static final int SET_BYTES = 1024;

    private static final int THIS_THREAD = 0;

    private ThreadCore() {}

    @SuppressWarnings("restricted")
    private static MethodHandle current(String name) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(JAVA_INT),
                Linker.Option.critical(false));
    }

    /** The core that the calling thread runs on at this moment, from 0; negative where unknown. */
    public static int current() {
        try {
            return (int) CURRENT.invokeExact();
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** The cores that the calling thread may run on, by their numbers. Empty where the system cannot tell. */
    public static BitSet allowed() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(SET_BYTES, Long.BYTES);
            return read(THIS_THREAD, set) ? BitSet.valueOf(set.toArray(JAVA_BYTE)) : new BitSet();
        }
    }

    /**
     * Moves the calling platform thread, or the one that carries the calling virtual thread, to {@code core} at once,
     * from where it may be moved on. Returns whether it may run there, and was moved.
     */
    public static boolean moveTo(int core) {
        if (core < 0 || core >= SET_BYTES * Byte.SIZE) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment allowed = arena.allocate(SET_BYTES, Long.BYTES);
            if (!read(THIS_THREAD, allowed) || !contains(allowed, core)) {
                return false;
            }
            MemorySegment only = arena.allocate(SET_BYTES, Long.BYTES);
            only.set(JAVA_BYTE, core / Byte.SIZE, (byte) (1 << core % Byte.SIZE));
            boolean moved = allow(only);
            return allow(allowed) && moved;
        }
    }

    /** Yields the core to a waiting thread of any process, or returns. A virtual thread yields its carrier's. */
    public static void handOver() {
        try {
            MemorySegment ignored = (MemorySegment) YIELD.invokeExact();
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** Whether the calling thread may run on {@code core}, and on others; {@code allowed} is filled with all of them. */
    static boolean isOneOfSeveral(int core, MemorySegment allowed) {
        return read(THIS_THREAD, allowed) && contains(allowed, core) && count(allowed) > 1;
    }

    /** Lets the calling thread run on these cores and no others; false where the system refuses. */
    static boolean allow(MemorySegment cores) {
        return allow(THIS_THREAD, cores);
    }

    /** Lets the thread of that number run on these cores and no others; false where the system refuses. */
    static boolean allow(int thread, MemorySegment cores) {
        try {
            MemorySegment status = (MemorySegment) SET_AFFINITY.invokeExact(
                    MemorySegment.ofAddress(thread), MemorySegment.ofAddress(SET_BYTES), cores);
            return (int) status.address() == 0;
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** Fills {@code cores} with those that the thread of that number may run on; false where the system refuses. */
    static boolean read(int thread, MemorySegment cores) {
        try {
            // It returns how many bytes it has written, or less than 0.
            MemorySegment status = (MemorySegment) GET_AFFINITY.invokeExact(
                    MemorySegment.ofAddress(thread), MemorySegment.ofAddress(SET_BYTES), cores);
            return (int) status.address() >= 0;
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    static boolean contains(MemorySegment set, int core) {
        return core < SET_BYTES * Byte.SIZE && (set.get(JAVA_BYTE, core / Byte.SIZE) & 1 << core % Byte.SIZE) != 0;
    }

    static int count(MemorySegment set) {
        int count = 0;
        for (long offset = 0; offset < SET_BYTES; offset += Long.BYTES) {
            count += Long.bitCount(set.get(JAVA_LONG, offset));
        }
        return count;
    }
}
