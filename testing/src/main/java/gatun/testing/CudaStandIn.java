// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The controls of the stand-in for CUDA's driver ({@code bindings/src/test/c/cuda-standin}) in this JVM: failures on
 * demand, a delay that makes missing synchronisation visible, and counts of held resources. Usable by any thread.
 */
public final class CudaStandIn {
    /** The counts of the stand-in; the names are its own, in lower case. */
    public enum Count {
        /** Device memory that was allocated and not given back. */
        ALLOCATIONS,
        /** Ranges of pinned host memory: allocated or registered. */
        HOST,
        /** Other processes' device memory that is open here. */
        MAPPINGS,
        /** Streams that exist. */
        STREAMS,
        /** Events that exist. */
        EVENTS,
        /** Modules that are loaded. */
        MODULES,
        /** How often primary contexts are retained. */
        CONTEXTS,
        /** Copies so far, in any direction. */
        COPIES,
        /** Bytes of those copies. */
        COPIED_BYTES,
        /** Copies so far from or to host memory that is not pinned. */
        PAGEABLE,
        /** Launches of kernels so far. */
        LAUNCHES;

        /** Whether it counts resources held now, and not events so far. */
        public boolean isHeld() {
            return compareTo(COPIES) < 0;
        }
    }

    private static final String LIBRARY = "libcuda.so.1";
    private static final Optional<CudaStandIn> LOADED = find();

    private final MethodHandle fail;
    private final MethodHandle count;
    private final MethodHandle delay;
    private final MethodHandle release;
    private final MethodHandle reset;

    @SuppressWarnings("restricted") // a test library; nothing of the server links it
    private CudaStandIn(SymbolLookup library) {
        Linker linker = Linker.nativeLinker();
        fail = linker.downcallHandle(
                library.find("gatun_standin_fail").orElseThrow(),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        count = linker.downcallHandle(
                library.find("gatun_standin_count").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        delay = linker.downcallHandle(
                library.find("gatun_standin_delay").orElseThrow(), FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
        release =
                linker.downcallHandle(library.find("gatun_standin_release").orElseThrow(), FunctionDescriptor.ofVoid());
        reset = linker.downcallHandle(library.find("gatun_standin_reset").orElseThrow(), FunctionDescriptor.ofVoid());
    }

    /** The stand-in, where it is the driver that this JVM finds; empty with NVIDIA's driver or none. */
    public static Optional<CudaStandIn> loaded() {
        return LOADED;
    }

    @SuppressWarnings("restricted")
    private static Optional<CudaStandIn> find() {
        try {
            SymbolLookup library = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
            return library.find("gatun_standin_count").map(symbol -> new CudaStandIn(library));
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // no driver at all
        }
    }

    /**
     * Lets a call fail, without effect.
     *
     * @param function as in {@code cuMemAlloc}; {@code cuMemAlloc@1} counts calls on device 1 only
     * @param result the {@code CUresult}; one that sticks to a device stays until {@link #reset}
     * @param after which call from now on; 0 is every call until {@link #reset}
     */
    public void fail(String function, int result, int after) {
        try (Arena arena = Arena.ofConfined()) {
            int refused = (int) fail.invokeExact(arena.allocateFrom(function), result, after);
            if (refused != 0) {
                throw new IllegalArgumentException("the stand-in has no function '" + function + "', or no room");
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** How many there are now, or have been so far. */
    public long count(Count what) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) count.invokeExact(arena.allocateFrom(what.name().toLowerCase(Locale.ROOT)));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** All that is held now. */
    public Map<Count, Long> held() {
        Map<Count, Long> held = new EnumMap<>(Count.class);
        for (Count what : Count.values()) {
            if (what.isHeld()) {
                held.put(what, count(what));
            }
        }
        return held;
    }

    /** Work that is queued from now on begins so much later. */
    public void delay(Duration time) {
        delayMicros(time.toNanos() / 1000);
    }

    /** Work that is queued from now on, until another {@link #delay}, begins only after {@link #release}. */
    public void hold() {
        delayMicros(-1);
    }

    private void delayMicros(long micros) {
        try {
            delay.invokeExact(micros);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Lets all work go that {@link #hold} keeps back now. */
    public void release() {
        try {
            release.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Lets work go that is held, and waits for all streams; forgets failures that were asked for, errors that stuck to
     * devices, and the delay. Held resources stay.
     */
    public void reset() {
        try {
            reset.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
