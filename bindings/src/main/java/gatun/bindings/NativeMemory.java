// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Turns raw native addresses into segments. The only place that calls {@code reinterpret} for other modules. */
public final class NativeMemory {
    private NativeMemory() {}

    /** {@code byteSize} bytes at {@code address}, never closed: a lease must keep the memory in use. */
    @SuppressWarnings("restricted")
    public static MemorySegment segment(long address, long byteSize) {
        return MemorySegment.ofAddress(address).reinterpret(byteSize);
    }

    /** {@code byteSize} bytes at {@code address} until {@code lifetime} ends, which calls {@code release} once. */
    @SuppressWarnings("restricted")
    public static MemorySegment segment(long address, long byteSize, Arena lifetime, Runnable release) {
        return MemorySegment.ofAddress(address).reinterpret(byteSize, lifetime, ignored -> release.run());
    }

    /**
     * The UTF-8 text at {@code pointer}, which C ended with a zero byte. Malformed bytes become replacement characters.
     */
    @SuppressWarnings("restricted")
    public static String string(MemorySegment pointer) {
        return pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }
}
