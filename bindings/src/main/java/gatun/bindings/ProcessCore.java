// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Binds the first thread of another process to one core, from where it unbinds itself, in Linux. Leaves a thread alone
 * for good whose cores somebody else has chosen meanwhile. For one thread at a time; allocates nothing after it was made.
 */
public final class ProcessCore {
    private final int process;
    private final MemorySegment allowed = set();
    private final MemorySegment found = set();
    private final MemorySegment only = set();
    private boolean isOurs;
    private int chosen;

    /** The first thread of the process with this number, which may run now wherever it may run at all. */
    public ProcessCore(long process) {
        this.process = Math.toIntExact(process);
        isOurs = ThreadCore.read(this.process, allowed) && ThreadCore.count(allowed) > 1;
    }

    private static MemorySegment set() {
        return Arena.ofAuto().allocate(ThreadCore.SET_BYTES, Long.BYTES);
    }

    /**
     * Binds it to {@code core}, from 0.
     *
     * @return false where it stays as it is: it may not run there, or only there, the system refuses, or it was bound by
     *     others or by an earlier call, and has not been unbound
     */
    public boolean bind(int core) {
        if (!isOurs || core < 0 || !ThreadCore.contains(allowed, core)) {
            return false;
        }
        isOurs = ThreadCore.read(process, found) && found.mismatch(allowed) < 0;
        if (!isOurs) {
            return false;
        }
        only.set(JAVA_BYTE, chosen / Byte.SIZE, (byte) 0);
        only.set(JAVA_BYTE, core / Byte.SIZE, (byte) (1 << core % Byte.SIZE));
        chosen = core;
        isOurs = ThreadCore.allow(process, only);
        return isOurs;
    }
}
