// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A registered GPU region, kept by this process. Thread-safe. */
final class CudaRegion extends Region {
    private final CudaRegionStatus status;
    private final CudaDevice device;
    private final DeviceMemory memory;

    /** A region that owns {@code mapping}, which is large enough. */
    CudaRegion(
            CudaRegionStatus status,
            CudaDevice device,
            CudaMappings.Mapping mapping,
            BiConsumer<Region, Runnable> releaser) {
        super(releaser, mapping::close);
        this.status = status;
        this.device = device;
        this.memory = mapping.memory().slice(0, status.byteSize());
    }

    /** Opens the allocation behind {@code handle}. Throws as {@link CudaMappings#open}, and when it is too small. */
    static CudaRegion open(
            CudaRegionStatus status,
            CudaDevice device,
            byte[] handle,
            CudaMappings mappings,
            BiConsumer<Region, Runnable> releaser) {
        CudaMappings.Mapping mapping = mappings.open(status.name(), device, handle);
        long allocated = mapping.memory().byteSize();
        if (Long.compareUnsigned(status.byteSize(), allocated) > 0) {
            mapping.close();
            throw RegionErrors.outsideAllocation(status.name(), status.byteSize(), allocated);
        }
        return new CudaRegion(status, device, mapping, releaser);
    }

    @Override
    CudaRegionStatus status() {
        return status;
    }

    @Override
    RegionUse use() {
        return new RegionUse(
                status, Optional.empty(), OptionalLong.empty(), OptionalLong.empty(), users(), isLeaving());
    }

    CudaDevice device() {
        return device;
    }

    /** The GPU, in whose addresses windows of all its regions are comparable. */
    @Override
    Object object() {
        return device;
    }

    @Override
    RegionLease lease(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool) {
        DeviceMemory window = memory.slice(offset, byteSize);
        return switch (access) {
            case READ -> new InputLease(this, window, pool);
            case SNAPSHOT -> snapshot(copyOf(window, pool));
            case WRITE -> new OutputLease(this, window, pool);
        };
    }

    Buffer copyOf(DeviceMemory window, BufferPool pool) {
        Buffer copy = pool.take(window.byteSize());
        try {
            if (window.byteSize() > 0) {
                device.copyToHost(window, copy.segment());
            }
            return copy;
        } catch (Throwable t) {
            copy.close();
            throw t;
        }
    }

    /** A window of GPU memory: its address, and a copy in system memory for others. */
    private abstract static class DeviceLease extends WindowLease<CudaRegion> {
        final DeviceMemory window;

        DeviceLease(CudaRegion region, DeviceMemory window) {
            super(region);
            this.window = window;
        }

        @Override
        public final Optional<DeviceMemory> device() {
            return Optional.of(window);
        }

        @Override
        public final boolean isShared() {
            return false;
        }

        @Override
        public final long byteSize() {
            return window.byteSize();
        }

        @Override
        public final long objectOffset() {
            return window.address();
        }
    }

    /** GPU memory of inputs, copied to system memory at most once. Thread-safe. */
    private static final class InputLease extends DeviceLease {
        /** The copy: made by whoever needs it first, while the others who do wait. */
        private final FutureTask<Buffer> copy;

        InputLease(CudaRegion region, DeviceMemory window, BufferPool pool) {
            super(region, window);
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
        public void settle() {
            // Nothing was written, and no owner can take away what is open here.
        }

        @Override
        void closeCopy() {
            if (copy.state() == Future.State.SUCCESS) {
                copy.resultNow().close();
            }
        }
    }

    /**
     * A window of GPU memory for outputs, used by address or by a buffer in system memory, of which as much as was
     * handed out goes to the GPU on {@link #settle}. Not thread-safe.
     */
    private static final class OutputLease extends DeviceLease {
        private final BufferPool pool;
        private @Nullable Buffer staged;
        /** So many bytes at the beginning of the buffer belong in the window; the others were never written. */
        private long validBytes;

        OutputLease(CudaRegion region, DeviceMemory window, BufferPool pool) {
            super(region, window);
            this.pool = pool;
        }

        /** Begins as a copy of the window, so that unwritten bytes never show another request's data. */
        @Override
        public MemorySegment segment() {
            MemorySegment buffer = buffer();
            long missing = window.byteSize() - validBytes;
            if (missing > 0) {
                region.device.copyToHost(window.slice(validBytes, missing), buffer.asSlice(validBytes));
                validBytes = window.byteSize();
            }
            return buffer;
        }

        @Override
        public MemorySegment target(long byteSize) {
            MemorySegment target = buffer().asSlice(0, byteSize);
            validBytes = Math.max(validBytes, byteSize);
            return target;
        }

        private MemorySegment buffer() {
            Buffer present = staged;
            if (present == null) {
                present = pool.take(window.byteSize());
                staged = present;
            }
            return present.segment();
        }

        @Override
        public void settle() {
            Buffer written = staged;
            if (written != null && validBytes > 0) {
                region.device.copyToDevice(written.segment().asSlice(0, validBytes), window);
            }
        }

        @Override
        void closeCopy() {
            Buffer present = staged;
            if (present != null) {
                present.close();
            }
        }
    }
}
