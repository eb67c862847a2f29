// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A window of a GPU's memory to read inputs from. Who can use it there takes its address; for everybody else it is
 * copied to system memory, once. Safe for any thread, since the steps of an ensemble may read one input at a time.
 */
final class CudaInputLease implements RegionLease {
    private final CudaRegion region;
    private final DeviceMemory window;
    /** The copy: made by whoever needs it first, while the others who do wait. */
    private final FutureTask<Buffer> copy;

    private final AtomicBoolean closed = new AtomicBoolean();

    CudaInputLease(CudaRegion region, DeviceMemory window, BufferPool pool) {
        this.region = region;
        this.window = window;
        this.copy = new FutureTask<>(() -> region.copyOf(window, pool));
    }

    @Override
    public MemorySegment segment() {
        copy.run();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return copy.get().segment();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            switch (Objects.requireNonNullElse(e.getCause(), e)) {
                case GatunException failure -> throw failure;
                case Error failure -> throw failure;
                default -> throw new IllegalStateException("a window of a GPU's memory could not be copied", e);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public Optional<DeviceMemory> device() {
        return Optional.of(window);
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public long byteSize() {
        return window.byteSize();
    }

    @Override
    public String region() {
        return region.status().name();
    }

    @Override
    public Object object() {
        return region.object();
    }

    @Override
    public long objectOffset() {
        return window.address();
    }

    @Override
    public void settle() {
        // Nothing was written, and no owner can take away what is open here.
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            if (copy.state() == Future.State.SUCCESS) {
                copy.resultNow().close();
            }
            region.release();
        }
    }
}
