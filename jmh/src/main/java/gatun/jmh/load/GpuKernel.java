// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.bindings.cuda.cuda_h;
import gatun.jmh.Median;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaStream;
import gatun.memory.tensor.DeviceMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernel of {@link GpuServer}'s model by itself, straight through the driver. For one thread, whose device it is.
 */
final class GpuKernel implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final CudaDevice device;
    private final CudaStream stream;
    private final MemorySegment module;
    private final MemorySegment function;
    private final MemorySegment parameters;
    private final MemorySegment begin;
    private final MemorySegment end;

    GpuKernel(CudaDevice device, Path ptx, DeviceMemory from, DeviceMemory to) throws IOException {
        this.device = device;
        stream = device.newStream();
        MemorySegment out = arena.allocate(cuda_h.C_POINTER);
        device.check(cuda_h.cuModuleLoadData(out, arena.allocateFrom(Files.readString(ptx))), "cuModuleLoadData");
        module = out.get(cuda_h.C_POINTER, 0);
        device.check(cuda_h.cuModuleGetFunction(out, module, arena.allocateFrom("copy_bytes")), "cuModuleGetFunction");
        function = out.get(cuda_h.C_POINTER, 0);
        MemorySegment values = arena.allocateFrom(cuda_h.C_LONG, from.address(), to.address(), GpuServer.COPIED_BYTES);
        parameters = arena.allocate(cuda_h.C_POINTER, 3);
        for (int i = 0; i < 3; i++) {
            parameters.setAtIndex(cuda_h.C_POINTER, i, values.asSlice((long) i * Long.BYTES));
        }
        device.check(cuda_h.cuEventCreate(out, 0), "cuEventCreate");
        begin = out.get(cuda_h.C_POINTER, 0);
        device.check(cuda_h.cuEventCreate(out, 0), "cuEventCreate");
        end = out.get(cuda_h.C_POINTER, 0);
    }

    private void launch() {
        int result = cuda_h.cuLaunchKernel(
                function, 16, 1, 1, 256, 1, 1, 0, stream.handle(), parameters, MemorySegment.NULL);
        device.check(result, "cuLaunchKernel");
    }

    /** The median time from a launch until its end is known here, in nanoseconds. */
    long launchAndWait(int times) {
        long[] nanos = new long[times];
        for (int i = 0; i < times; i++) {
            long before = System.nanoTime();
            launch();
            stream.synchronize();
            nanos[i] = System.nanoTime() - before;
        }
        return Median.of(nanos);
    }

    /** The median time that the device takes for it, in nanoseconds. */
    long onDevice(int times) {
        long[] nanos = new long[times];
        MemorySegment milliseconds = arena.allocate(cuda_h.C_FLOAT);
        for (int i = 0; i < times; i++) {
            device.check(cuda_h.cuEventRecord(begin, stream.handle()), "cuEventRecord");
            launch();
            device.check(cuda_h.cuEventRecord(end, stream.handle()), "cuEventRecord");
            stream.synchronize();
            device.check(cuda_h.cuEventElapsedTime_v2(milliseconds, begin, end), "cuEventElapsedTime");
            nanos[i] = (long) (milliseconds.get(cuda_h.C_FLOAT, 0) * 1e6);
        }
        return Median.of(nanos);
    }

    @Override
    public void close() {
        cuda_h.cuEventDestroy_v2(begin);
        cuda_h.cuEventDestroy_v2(end);
        cuda_h.cuModuleUnload(module);
        stream.close();
        arena.close();
    }
}
