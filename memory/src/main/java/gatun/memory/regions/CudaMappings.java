// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.Cuda;
import gatun.bindings.cuda.CUipcMemHandle_st;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Other processes' allocations, each opened once for all its regions, as drivers want. Thread-safe. */
final class CudaMappings {
    private static final Logger LOG = System.getLogger("gatun.memory");

    private final ReentrantLock lock = new ReentrantLock();
    /** Awaited by whoever finds an entry that is being opened or closed, signalled when that is over. */
    private final Condition settled = lock.newCondition();

    private final Map<Key, Entry> entries = new HashMap<>(); // guarded by lock

    private record Key(int device, ByteBuffer handle) {}

    /** One allocation, on its way in or out while it has no memory. */
    private static final class Entry {
        private @Nullable DeviceMemory memory; // guarded by lock
        private int users; // guarded by lock
    }

    /** One use of an allocation; whoever has it closes it once. */
    final class Mapping implements AutoCloseable {
        private final CudaDevice device;
        private final Key key;
        private final DeviceMemory memory;

        private Mapping(CudaDevice device, Key key, DeviceMemory memory) {
            this.device = device;
            this.key = key;
            this.memory = memory;
        }

        /** All of the allocation. Valid until this is closed. */
        DeviceMemory memory() {
            return memory;
        }

        /** Ends the use; the last one closes the allocation. Calls CUDA: never on the thread of a request. */
        @Override
        public void close() {
            if (leave(key)) {
                try {
                    shut(device, memory);
                } finally {
                    remove(key);
                }
            }
        }
    }

    /** Opens the allocation of {@code handle}. Throws INVALID_ARGUMENT, or UNAVAILABLE for a failed or full device. */
    Mapping open(String region, CudaDevice device, byte[] handle) {
        // Allocations of a failed device that are still open get no new users.
        device.requireWorking();
        Key key = new Key(device.ordinal(), ByteBuffer.wrap(handle.clone()));
        DeviceMemory present = enter(key);
        if (present != null) {
            return new Mapping(device, key, present);
        }
        DeviceMemory memory;
        try {
            memory = device.call(() -> map(region, device, handle));
        } catch (Throwable t) {
            remove(key);
            throw t;
        }
        lock.lock();
        try {
            Entry entry = Objects.requireNonNull(entries.get(key));
            entry.memory = memory;
            entry.users = 1;
            settled.signalAll();
        } finally {
            lock.unlock();
        }
        return new Mapping(device, key, memory);
    }

    /** Becomes a user of an open allocation; or returns null, and the caller has to open it, or to remove the entry. */
    private @Nullable DeviceMemory enter(Key key) {
        lock.lock();
        try {
            while (true) {
                Entry entry = entries.get(key);
                if (entry == null) {
                    entries.put(key, new Entry());
                    return null;
                }
                if (entry.memory != null) {
                    entry.users++;
                    return entry.memory;
                }
                settled.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends a use; true for the last one, who has to close the allocation and to remove the entry. */
    private boolean leave(Key key) {
        lock.lock();
        try {
            Entry entry = Objects.requireNonNull(entries.get(key));
            entry.users--;
            if (entry.users > 0) {
                return false;
            }
            entry.memory = null;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void remove(Key key) {
        lock.lock();
        try {
            entries.remove(key);
            settled.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Opens the allocation. Called with the device as the thread's current one. */
    private static DeviceMemory map(String region, CudaDevice device, byte[] handle) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment given = CUipcMemHandle_st.allocate(scratch);
            MemorySegment.copy(handle, 0, given, ValueLayout.JAVA_BYTE, 0, handle.length);
            MemorySegment address = scratch.allocate(cuda_h.C_LONG);
            int result = cuda_h.cuIpcOpenMemHandle_v2(address, given, cuda_h.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS());
            checkOpened(result, region, device);
            DeviceMemory opened = new DeviceMemory(device.ordinal(), address.get(cuda_h.C_LONG, 0), 0);
            try {
                MemorySegment base = scratch.allocate(cuda_h.C_LONG);
                MemorySegment byteSize = scratch.allocate(cuda_h.C_LONG);
                device.check(cuda_h.cuMemGetAddressRange_v2(base, byteSize, opened.address()), "cuMemGetAddressRange");
                long end = base.get(cuda_h.C_LONG, 0) + byteSize.get(cuda_h.C_LONG, 0);
                return new DeviceMemory(opened.device(), opened.address(), end - opened.address());
            } catch (Throwable t) {
                shut(device, opened);
                throw t;
            }
        }
    }

    /** Blames the handle for a failure, unless the GPU is short of memory or broken. */
    private static void checkOpened(int result, String region, CudaDevice device) {
        try {
            device.check(result, "cuIpcOpenMemHandle");
        } catch (GatunException e) {
            throw e.code() == ErrorCode.INTERNAL
                    ? RegionErrors.handleRefused(region, device.ordinal(), Cuda.errorText(result))
                    : e;
        }
    }

    private static void shut(CudaDevice device, DeviceMemory memory) {
        try {
            device.run(() -> device.check(cuda_h.cuIpcCloseMemHandle(memory.address()), "cuIpcCloseMemHandle"));
        } catch (GatunException e) {
            if (device.failure().isEmpty()) {
                throw e;
            }
            // Memory that is mapped on a broken GPU is lost until the process ends; that was logged when it broke.
            LOG.log(Level.DEBUG, "shared memory of a GPU that has failed stays open", e);
        }
    }
}
