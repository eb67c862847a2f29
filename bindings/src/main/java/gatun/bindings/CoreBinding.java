// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Binds a platform thread to one core for a while, in Linux. Threads that a bound thread starts inherit its core, so it
 * should be bound only while it starts none. For one thread; allocates nothing after it was made.
 */
public final class CoreBinding {
    /** No core. */
    public static final int NO_CORE = -1;

    private final MemorySegment allowed = Arena.ofAuto().allocate(ThreadCore.SET_BYTES, Long.BYTES);
    private final MemorySegment only = Arena.ofAuto().allocate(ThreadCore.SET_BYTES, Long.BYTES);
    private int chosen = NO_CORE;

    /** Binds to no core yet. */
    public CoreBinding() {}

    /** Chooses the core for {@link #bind}, from 0; {@link #NO_CORE} if it is not allowed, or the only one. */
    public void choose(int core) {
        if (chosen != NO_CORE) {
            only.set(JAVA_BYTE, chosen / Byte.SIZE, (byte) 0);
        }
        chosen = core >= 0 && ThreadCore.isOneOfSeveral(core, allowed) ? core : NO_CORE;
        if (chosen != NO_CORE) {
            only.set(JAVA_BYTE, chosen / Byte.SIZE, (byte) (1 << chosen % Byte.SIZE));
        }
    }

    /** Binds the calling thread to the chosen core, if there is one, until {@link #release}. */
    public void bind() {
        if (chosen != NO_CORE) {
            ThreadCore.allow(only);
        }
    }

    /** Lets the calling thread run where it might when the core was chosen. */
    public void release() {
        if (chosen != NO_CORE && !ThreadCore.allow(allowed)) {
            // Those cores were taken from the process meanwhile; the kernel leaves out what it may not have.
            try (Arena arena = Arena.ofConfined()) {
                ThreadCore.allow(
                        arena.allocate(ThreadCore.SET_BYTES, Long.BYTES).fill((byte) -1));
            }
        }
    }
}
