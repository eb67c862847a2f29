// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.bindings.cuda.cuda_h;
import gatun.memory.tensor.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A GPU's queue of copies and kernels. Only {@link #synchronize} and {@link #awaitMark} block. Not thread-safe. */
public final class CudaStream implements AutoCloseable {
    private final CudaDevice device;
    private final MemorySegment handle;
    private final MemorySegment mark;

    private CudaStream(CudaDevice device, MemorySegment handle, MemorySegment mark) {
        this.device = device;
        this.handle = handle;
        this.mark = mark;
    }

    static CudaStream open(CudaDevice device) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(cuda_h.C_POINTER);
            // Independent of the default stream: what others do there must not wait for this, nor this for them.
            device.check(cuda_h.cuStreamCreate(out, cuda_h.CU_STREAM_NON_BLOCKING()), "cuStreamCreate");
            MemorySegment stream = out.get(cuda_h.C_POINTER, 0);
            try {
                device.check(cuda_h.cuEventCreate(out, cuda_h.CU_EVENT_DISABLE_TIMING()), "cuEventCreate");
            } catch (RuntimeException e) {
                cuda_h.cuStreamDestroy_v2(stream);
                throw e;
            }
            return new CudaStream(device, stream, out.get(cuda_h.C_POINTER, 0));
        }
    }

    /** The GPU that does it. */
    public CudaDevice device() {
        return device;
    }

    /** CUDA's {@code CUstream}, to launch kernels on; valid until this is closed. */
    public MemorySegment handle() {
        return handle;
    }

    /**
     * Queues a copy of all of {@code from}, which must stay as it is meanwhile, to the beginning of {@code to}. Throws
     * {@link gatun.memory.tensor.GatunException} when CUDA refuses, or the device has failed.
     */
    public void copyToDevice(MemorySegment from, DeviceMemory to) {
        long target = to.slice(0, from.byteSize()).address();
        device.check(cuda_h.cuMemcpyHtoDAsync_v2(target, from, from.byteSize(), handle), "cuMemcpyHtoDAsync");
    }

    /** Queues a copy of {@code from} to the beginning of {@code to}, which must stay valid until it is over. */
    public void copyToHost(DeviceMemory from, MemorySegment to) {
        MemorySegment target = to.asSlice(0, from.byteSize());
        device.check(cuda_h.cuMemcpyDtoHAsync_v2(target, from.address(), from.byteSize(), handle), "cuMemcpyDtoHAsync");
    }

    /** Queues a copy of all of {@code from} to the beginning of {@code to}, of which one may be on another GPU. */
    public void copy(DeviceMemory from, DeviceMemory to) {
        long target = to.slice(0, from.byteSize()).address();
        device.check(cuda_h.cuMemcpyDtoDAsync_v2(target, from.address(), from.byteSize(), handle), "cuMemcpyDtoDAsync");
    }

    /** Queues zeros for all of {@code memory}. */
    public void clear(DeviceMemory memory) {
        device.check(cuda_h.cuMemsetD8Async(memory.address(), (byte) 0, memory.byteSize(), handle), "cuMemsetD8Async");
    }

    /** Marks the present end of the queue; replaces the mark before. */
    public void mark() {
        device.check(cuda_h.cuEventRecord(mark, handle), "cuEventRecord");
    }

    /** Waits until everything before the mark is done. Throws when something of it failed. */
    public void awaitMark() {
        device.check(cuda_h.cuEventSynchronize(mark), "cuEventSynchronize");
    }

    /** Waits until everything is done. Throws when something of it failed. */
    public void synchronize() {
        device.check(cuda_h.cuStreamSynchronize(handle), "cuStreamSynchronize");
    }

    /** Waits until nothing is under way any more, whether it failed or not. */
    void settle() {
        // A failure was reported already by the call that waited for the results, or nobody wants them.
        cuda_h.cuStreamSynchronize(handle);
    }

    /** Gives the stream up, when nothing is queued any more. */
    @Override
    public void close() {
        cuda_h.cuEventDestroy_v2(mark);
        cuda_h.cuStreamDestroy_v2(handle);
    }
}
