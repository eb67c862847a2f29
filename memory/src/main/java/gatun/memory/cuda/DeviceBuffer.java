// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Hold;
import java.util.concurrent.atomic.AtomicBoolean;

/** Memory of a GPU, lent by its {@link DevicePool}. To be closed when nothing on the GPU uses it any more. */
public final class DeviceBuffer implements Hold {
    private final DevicePool pool;
    private final long address;
    private final long blockBytes;
    private final DeviceMemory memory;
    private final AtomicBoolean closed = new AtomicBoolean();

    DeviceBuffer(DevicePool pool, int device, long address, long blockBytes, long byteSize) {
        this.pool = pool;
        this.address = address;
        this.blockBytes = blockBytes;
        this.memory = new DeviceMemory(device, address, byteSize);
    }

    /** The memory, of exactly the size that was asked for, with undefined content; valid until this is closed. */
    public DeviceMemory memory() {
        return memory;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            pool.takeBack(address, blockBytes);
        }
    }
}
