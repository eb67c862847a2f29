// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.bindings.cuda.CUipcMemHandle_st;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.tensor.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/** A GPU's memory that this process owns and may share. Thread-safe; its users order reads and writes. */
public final class CudaAllocation implements AutoCloseable {
    private final CudaDevice device;
    private final DeviceMemory memory;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaAllocation(CudaDevice device, DeviceMemory memory) {
        this.device = device;
        this.memory = memory;
    }

    /**
     * Allocates memory of {@code device}, with undefined content, outside of its pool: whoever gets the handle can
     * reach all of it, and nothing else. Throws UNAVAILABLE when the GPU has no room or has failed.
     */
    public static CudaAllocation of(CudaDevice device, long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException(
                    byteSize + " bytes of " + device + " were asked for: expected at least 1");
        }
        long address = device.call(() -> {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment out = scratch.allocate(cuda_h.C_LONG);
                device.check(cuda_h.cuMemAlloc_v2(out, byteSize), "cuMemAlloc of " + byteSize + " bytes");
                return out.get(cuda_h.C_LONG, 0);
            }
        });
        return new CudaAllocation(device, new DeviceMemory(device.ordinal(), address, byteSize));
    }

    /** Where it is in this process. */
    public DeviceMemory memory() {
        return memory;
    }

    /** CUDA's IPC handle, of 64 bytes, which a client registers. Other processes can open it until this is closed. */
    public byte[] handle() {
        return device.call(() -> {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment out = CUipcMemHandle_st.allocate(scratch);
                device.check(cuda_h.cuIpcGetMemHandle(out, memory.address()), "cuIpcGetMemHandle");
                return out.toArray(ValueLayout.JAVA_BYTE);
            }
        });
    }

    /** Copies native {@code source} to {@code offset}, and waits for it. Throws when it does not fit. */
    public void write(long offset, MemorySegment source) {
        device.copyToDevice(source, memory.slice(offset, source.byteSize()));
    }

    /** Fills all of {@code target}, in native memory, with what is at {@code offset}. Otherwise as {@link #write}. */
    public void read(long offset, MemorySegment target) {
        device.copyToHost(memory.slice(offset, target.byteSize()), target);
    }

    /** Gives the memory back. Not before the server has unregistered it: what others have open becomes undefined. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            device.run(() -> device.check(cuda_h.cuMemFree_v2(memory.address()), "cuMemFree"));
        }
    }
}
