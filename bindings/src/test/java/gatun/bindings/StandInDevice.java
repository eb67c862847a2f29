// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static gatun.bindings.cuda.cuda_h.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandIn.Count;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;

/**
 * A device of the stand-in, current for the thread that made it. Its calls return what CUDA returns and require success
 * where a test only prepares. Closing it gives its context back and requires that nothing is left in it.
 */
final class StandInDevice implements AutoCloseable {
    final Arena arena = Arena.ofShared();
    final CudaStandIn standIn;
    final int ordinal;
    final MemorySegment context;
    private final Map<Count, Long> before;

    private StandInDevice(CudaStandIn standIn, int ordinal) {
        this.standIn = standIn;
        this.ordinal = ordinal;
        this.before = held();
        MemorySegment out = arena.allocate(C_POINTER);
        require(cuDevicePrimaryCtxRetain(out, ordinal));
        context = out.get(C_POINTER, 0);
        require(cuCtxSetCurrent(context));
    }

    static StandInDevice open(int ordinal) {
        assumeThat(CudaStandIn.loaded())
                .as("the stand-in, which needs a C compiler")
                .isPresent();
        assertThat(Cuda.driver()).isInstanceOf(NativeLibrary.Available.class);
        return new StandInDevice(CudaStandIn.loaded().orElseThrow(), ordinal);
    }

    static void require(int result) {
        assertThat(Result.of(result)).isEqualTo("CUDA_SUCCESS");
    }

    long allocate(long byteSize) {
        MemorySegment out = arena.allocate(C_LONG);
        require(cuMemAlloc_v2(out, byteSize));
        return out.get(C_LONG, 0);
    }

    MemorySegment pinned(long byteSize) {
        MemorySegment out = arena.allocate(C_POINTER);
        require(cuMemAllocHost_v2(out, byteSize));
        return out.get(C_POINTER, 0).reinterpret(byteSize);
    }

    MemorySegment stream(int flags) {
        MemorySegment out = arena.allocate(C_POINTER);
        require(cuStreamCreate(out, flags));
        return out.get(C_POINTER, 0);
    }

    MemorySegment event(int flags) {
        MemorySegment out = arena.allocate(C_POINTER);
        require(cuEventCreate(out, flags));
        return out.get(C_POINTER, 0);
    }

    MemorySegment module(String ptx) {
        MemorySegment out = arena.allocate(C_POINTER);
        require(cuModuleLoadData(out, arena.allocateFrom(ptx)));
        return out.get(C_POINTER, 0);
    }

    MemorySegment function(MemorySegment module, String name) {
        MemorySegment out = arena.allocate(C_POINTER);
        require(cuModuleGetFunction(out, module, arena.allocateFrom(name)));
        return out.get(C_POINTER, 0);
    }

    /** Device memory that holds these numbers. */
    long allocateInts(int... numbers) {
        long address = allocate((long) numbers.length * Integer.BYTES);
        require(cuMemcpyHtoD_v2(
                address, arena.allocateFrom(ValueLayout.JAVA_INT, numbers), (long) numbers.length * Integer.BYTES));
        // The host's memory was read, which does not mean that all has arrived: others could be faster.
        require(cuCtxSynchronize());
        return address;
    }

    int[] ints(long address, int count) {
        MemorySegment out = arena.allocate(ValueLayout.JAVA_INT, count);
        require(cuMemcpyDtoH_v2(out, address, out.byteSize()));
        return out.toArray(ValueLayout.JAVA_INT);
    }

    @Override
    public void close() {
        standIn.reset();
        require(cuCtxSetCurrent(context));
        Map<Count, Long> after = held();
        require(cuDevicePrimaryCtxRelease_v2(ordinal));
        require(cuCtxSetCurrent(MemorySegment.NULL));
        arena.close();
        assertThat(after).as("what the test left").isEqualTo(before);
    }

    private Map<Count, Long> held() {
        Map<Count, Long> held = standIn.held();
        held.remove(Count.CONTEXTS);
        return held;
    }

    /** Names of results, so that a failed assertion can be read. */
    static final class Result {
        private Result() {}

        static String of(int result) {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment out = scratch.allocate(C_POINTER);
                return cuGetErrorName(result, out) == CUDA_SUCCESS()
                        ? NativeMemory.string(out.get(C_POINTER, 0))
                        : "result " + result;
            }
        }
    }
}
