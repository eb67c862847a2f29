// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.memory.cuda.DevicePool.DeviceBuffer;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Copies the inputs of one run to a GPU, and its results to where they belong, on a stream of its own: asynchronously,
 * and not at all where a client's memory is on that GPU. One object serves all runs of a model instance, one after the
 * other:
 *
 * <pre>{@code
 * try (DeviceTransfers run = transfers.begin()) {
 *     DeviceMemory x = run.bring(input);
 *     DeviceMemory y = run.deliver(target);
 *     launch(kernel, run.stream().handle(), x.address(), y.address());
 *     run.awaitKernels();
 *     run.complete();
 * }
 * }</pre>
 *
 * <p>Used by one thread, whose current device is the stream's.
 */
public final class DeviceTransfers implements AutoCloseable {
    /** Alignment for a thread's widest access, in bytes: a vector of 128 bits (CUDA C++ Programming Guide). */
    private static final int ALIGNMENT = 16;

    private final CudaStream stream;
    private final boolean clearing;
    private final List<DeviceBuffer> buffers = new ArrayList<>();
    private final List<Delivery> deliveries = new ArrayList<>();
    private boolean busy;

    /** A copy to make when the kernels are done: to system memory, or to other memory of a GPU. */
    private record Delivery(
            DeviceMemory from,
            @Nullable MemorySegment host,
            @Nullable DeviceMemory device) {}

    /** Transfers on a stream of their own, for an engine that writes all outputs; ended by {@link #release}. */
    public DeviceTransfers(CudaDevice device) {
        this(device, false);
    }

    private DeviceTransfers(CudaDevice device, boolean clearing) {
        this.stream = device.newStream();
        this.clearing = clearing;
    }

    /** The same for engines that leave parts of outputs alone: memory begins with zeros, not another's data. */
    public static DeviceTransfers clearing(CudaDevice device) {
        return new DeviceTransfers(device, true);
    }

    /** The stream that kernels are to be launched on. */
    public CudaStream stream() {
        return stream;
    }

    /** Whether {@code memory} is there and on this GPU. */
    public boolean isOn(Optional<DeviceMemory> memory) {
        return memory.isPresent() && memory.get().device() == stream.device().ordinal();
    }

    /** Begins a run. Returns itself, to be closed at the run's end. */
    public DeviceTransfers begin() {
        if (busy) {
            throw new IllegalStateException("the run before was not closed");
        }
        busy = true;
        return this;
    }

    /**
     * {@code tensor} on this GPU: its own memory when it lies there, else a copy for whatever is queued on the stream
     * later. It must stay as it is until the run is closed. Throws when memory is short, or the device has failed.
     */
    public DeviceMemory bring(Tensor tensor) {
        Optional<DeviceMemory> present = tensor.device();
        if (isOn(present) && isAligned(present.get())) {
            return present.get();
        }
        return copy(tensor);
    }

    /** A copy of {@code tensor} on this GPU, also where it lies there already. Otherwise as {@link #bring}. */
    public DeviceMemory copy(Tensor tensor) {
        DeviceMemory copy = lend(tensor.byteSize());
        fill(copy, tensor);
        return copy;
    }

    /** Queues a copy of {@code tensor} to the beginning of {@code target}. Otherwise as {@link #bring}. */
    public void fill(DeviceMemory target, Tensor tensor) {
        Optional<DeviceMemory> source = tensor.device();
        if (tensor.byteSize() == 0) {
            return; // CUDA has no copies of nothing to do
        }
        if (source.isPresent()) {
            stream.copy(source.get(), target);
        } else {
            stream.copyToDevice(tensor.bytes(), target);
        }
    }

    /** Whether kernels may use {@code memory}: a misaligned access would break the whole GPU's context. */
    public static boolean isAligned(DeviceMemory memory) {
        return memory.address() % ALIGNMENT == 0;
    }

    /** GPU memory for an output at {@code window}: that itself if usable, else a copy for {@link #complete}. */
    public DeviceMemory target(DeviceMemory window) {
        return isAligned(window) ? window : aside(window);
    }

    /** Memory on this GPU for an output that belongs in {@code window}: {@link #complete} copies all of it there. */
    public DeviceMemory aside(DeviceMemory window) {
        DeviceMemory aside = take(window.byteSize());
        deliver(aside, window);
        return aside;
    }

    /** {@code byteSize} bytes on this GPU until the run is closed; zeros after {@linkplain #clearing clear}. */
    public DeviceMemory take(long byteSize) {
        DeviceMemory memory = lend(byteSize);
        if (clearing && byteSize > 0) {
            stream.clear(memory);
        }
        return memory;
    }

    private DeviceMemory lend(long byteSize) {
        DeviceBuffer buffer = stream.device().pool().take(byteSize);
        buffers.add(buffer);
        return buffer.memory();
    }

    /** Memory on this GPU for an output that belongs in {@code target}: {@link #complete} copies all of it there. */
    public DeviceMemory deliver(MemorySegment target) {
        DeviceMemory from = take(target.byteSize());
        deliveries.add(new Delivery(from, target, null));
        return from;
    }

    /** Has {@link #complete} copy all of {@code from}, which is on this GPU, to {@code target}. */
    public void deliver(DeviceMemory from, DeviceMemory target) {
        deliveries.add(new Delivery(from, null, target));
    }

    /** Queues the deliveries behind all launched kernels, and waits for these. Throws when something failed. */
    public void awaitKernels() {
        stream.mark();
        for (Delivery delivery : deliveries) {
            MemorySegment host = delivery.host();
            DeviceMemory device = delivery.device();
            if (delivery.from().byteSize() == 0) {
                continue;
            }
            if (host != null) {
                stream.copyToHost(delivery.from(), host);
            } else if (device != null) {
                stream.copy(delivery.from(), device);
            }
        }
        stream.awaitMark();
    }

    /** Waits until everything is where it belongs. Throws when a copy failed. */
    public void complete() {
        if (!deliveries.isEmpty()) {
            deliveries.clear();
            stream.synchronize();
        }
    }

    /** Ends the run, however it went: nothing of it is under way any more, and its memory goes back. */
    @Override
    public void close() {
        try {
            stream.settle();
        } finally {
            deliveries.clear();
            buffers.forEach(DeviceBuffer::close);
            buffers.clear();
            busy = false;
        }
    }

    /** Gives the stream up, after the last run, and the pool's idle memory. */
    public void release() {
        stream.close();
        stream.device().pool().trim();
    }
}
