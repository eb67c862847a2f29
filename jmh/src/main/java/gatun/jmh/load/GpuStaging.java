// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.bindings.NativeMemory;
import gatun.bindings.cuda.cuda_h;
import gatun.jmh.Median;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaStream;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * How fast a tensor gets from pinned host memory to a GPU and back: by {@link DeviceTransfers}, as each run of a model
 * does, and by two plain asynchronous copies. In turn, so that both meet the same machine. For one thread, whose device
 * it is.
 */
final class GpuStaging {
    private static final int TURNS = 41;

    private GpuStaging() {}

    /**
     * Bytes a second of either way, there and back counted.
     *
     * @param transfers the median of the runs' way
     * @param plain the median of the plain copies
     */
    record Result(double transfers, double plain) {}

    static Result measure(CudaDevice device, int byteSize) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(cuda_h.C_POINTER);
            device.check(cuda_h.cuMemAllocHost_v2(out, 2L * byteSize), "cuMemAllocHost");
            MemorySegment host =
                    NativeMemory.segment(out.get(cuda_h.C_POINTER, 0).address(), 2L * byteSize);
            DeviceTransfers transfers = new DeviceTransfers(device);
            try {
                return measure(transfers, host.asSlice(0, byteSize).fill((byte) 7), host.asSlice(byteSize));
            } finally {
                transfers.release();
                cuda_h.cuMemFreeHost(host);
            }
        }
    }

    private static Result measure(DeviceTransfers transfers, MemorySegment from, MemorySegment to) {
        long byteSize = from.byteSize();
        Tensor tensor = new Tensor(new TensorSpec("x", Datatype.UINT8, Shape.of(byteSize)), from);
        long[] ours = new long[TURNS];
        long[] plain = new long[TURNS];
        for (int i = 0; i < TURNS; i++) {
            long begin = System.nanoTime();
            try (DeviceTransfers run = transfers.begin()) {
                DeviceMemory there = run.bring(tensor);
                DeviceMemory back = run.deliver(to);
                run.awaitKernels();
                run.complete();
                if (there.byteSize() != back.byteSize()) {
                    throw new IllegalStateException("the tensor and its answer differ in size");
                }
            }
            ours[i] = System.nanoTime() - begin;
            try (DeviceTransfers memory = transfers.begin()) {
                DeviceMemory first = memory.take(byteSize);
                DeviceMemory second = memory.take(byteSize);
                CudaStream stream = memory.stream();
                begin = System.nanoTime();
                stream.copyToDevice(from, first);
                stream.copyToHost(second, to);
                stream.synchronize();
                plain[i] = System.nanoTime() - begin;
            }
        }
        return new Result(rate(byteSize, ours), rate(byteSize, plain));
    }

    private static double rate(long byteSize, long[] nanos) {
        return 2 * byteSize * 1e9 / Median.of(nanos);
    }
}
