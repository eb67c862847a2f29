// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Guards one region. Closed after its last use, before unmapping. {@link #broken} is thread-safe. */
public final class RegionGuard implements AutoCloseable {
    private static final VarHandle FLAG = ValueLayout.JAVA_INT.varHandle();

    private final GuardLibrary library;
    /** The word that the signal handler sets. After {@link #close} it may be another region's. */
    private final MemorySegment flag;

    private boolean brokenAtClose; // written before closed is, read after it
    private volatile boolean closed;

    RegionGuard(GuardLibrary library, MemorySegment flag) {
        this.library = library;
        this.flag = flag;
    }

    /** Whether a missing part of the region was touched. Never becomes false again. Costs two loads. */
    public boolean broken() {
        boolean broken = flagged();
        return closed ? brokenAtClose : broken;
    }

    /** Ends the guard, after a handler at work in the region has left. Throws IllegalStateException a second time. */
    @Override
    public void close() {
        if (closed) {
            throw new IllegalStateException("the guard of a region was closed twice");
        }
        brokenAtClose = flagged();
        closed = true;
        library.release(flag);
    }

    private boolean flagged() {
        // What was read of the region may not be read after the flag, as some processors would.
        VarHandle.acquireFence();
        return (int) FLAG.getAcquire(flag, 0L) != 0;
    }
}
