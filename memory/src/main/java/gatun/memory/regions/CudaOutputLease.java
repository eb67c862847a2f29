// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A window of a GPU's memory to write outputs to. Who can use it there takes its address; for everybody else there is a
 * buffer in system memory, of which as much as was handed out goes to the GPU when the results are complete. For one
 * thread at a time.
 */
final class CudaOutputLease implements RegionLease {
    private final CudaRegion region;
    private final DeviceMemory window;
    private final BufferPool pool;
    private final AtomicBoolean closed = new AtomicBoolean();
    private @Nullable Buffer staged;
    /** So many bytes at the beginning of the buffer belong in the window; the others were never written. */
    private long validBytes;

    CudaOutputLease(CudaRegion region, DeviceMemory window, BufferPool pool) {
        this.region = region;
        this.window = window;
        this.pool = pool;
    }

    /**
     * Begins as a copy of the window, so that what nobody writes stays as it was and never shows another request's
     * data.
     */
    @Override
    public MemorySegment segment() {
        MemorySegment buffer = buffer();
        long missing = window.byteSize() - validBytes;
        if (missing > 0) {
            region.device().copyToHost(window.slice(validBytes, missing), buffer.asSlice(validBytes));
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
        Buffer written = staged;
        if (written != null && validBytes > 0) {
            region.device().copyToDevice(written.segment().asSlice(0, validBytes), window);
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Buffer present = staged;
            if (present != null) {
                present.close();
            }
            region.release();
        }
    }
}
