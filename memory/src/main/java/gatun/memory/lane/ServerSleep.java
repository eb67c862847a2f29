// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import gatun.bindings.Futex;
import gatun.bindings.Futex.FutexSet;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The sleep of a thread that serves lanes: until a client rings at one of them, or somebody of this process
 * interrupts it. {@link #begin}, then {@link #add} for each lane, then a last look at all lanes, then {@link #sleep}.
 * For one thread at a time, but for {@link #interrupt}.
 */
public final class ServerSleep {
    /** The most lanes that one thread can sleep at. */
    public static final int MAX_LANES = FutexSet.CAPACITY - 1;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final FutexSet words = new FutexSet();
    private final MemorySegment interruptions = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);

    /** Sleeps at no lane yet. */
    public ServerSleep() {}

    /** Whether this system can do it: Linux from 5.16 on. */
    public static boolean isSupported() {
        return Futex.supportsSets();
    }

    /** Begins a sleep; an interruption from now on keeps it from being one. */
    public void begin() {
        words.clear();
        words.add(interruptions.address(), (int) INT.getVolatile(interruptions, 0L));
    }

    /** Adds a lane, which has to stay mapped, and tells its client. */
    public void add(LaneMemory lane) {
        int bell = lane.serverBell();
        words.add(lane.serverBellAddress(), bell);
        lane.sayServerSleeps();
    }

    /** Sleeps. */
    public void sleep() {
        words.await();
    }

    /** Ends the sleep, or keeps one that has begun from being one. For any thread. */
    public void interrupt() {
        INT.getAndAdd(interruptions, 0L, 1);
        Futex.wake(interruptions.address());
    }
}
