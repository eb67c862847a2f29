// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.words.WordFunctions;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The priority that Linux gives a thread beside others. */
public final class ThreadPriority {
    /** {@code int nice(int increment)}: in Linux of the calling thread, and those it makes later. */
    private static final MethodHandle NICE = WordFunctions.find("nice", 1);

    private ThreadPriority() {}

    /**
     * Lowers the calling platform thread's priority for good: it may not be raised again. A thread that is 10 lower
     * gets a tenth of another's time while both want the same core, and the whole core while nobody else wants it.
     *
     * @param steps how many of the system's, of which there are 20
     */
    public static void lower(int steps) {
        try {
            // It may return anything, -1 too; a system that refuses leaves the priority as it is.
            int now = (int) ((MemorySegment) NICE.invokeExact(MemorySegment.ofAddress(steps))).address();
            assert now >= -20;
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }
}
