// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Regions that are nothing but memory, with leases that record their outcome. */
final class FakeRegions implements RegionRegistry {
    /** A lease on {@code segment} that breaks when told to. */
    public static final class Lease implements RegionLease {
        private final MemorySegment segment;
        public volatile boolean broken;
        public volatile int settled;
        public volatile int closed;

        public Lease(MemorySegment segment) {
            this.segment = segment;
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // settled by one thread
        public void settle() {
            settled++;
            if (broken) {
                throw GatunException.invalidArgument("the region was taken away");
            }
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // closed by one thread
        public void close() {
            closed++;
        }
    }

    @Override
    public void register(String name, String key, long offset, long byteSize) {
        throw new GatunException(ErrorCode.UNSUPPORTED, "no regions here");
    }

    @Override
    public boolean supportsCuda() {
        return false;
    }

    @Override
    public void registerCuda(String name, byte[] handle, long device, long byteSize) {
        throw new GatunException(ErrorCode.UNSUPPORTED, "no regions here");
    }

    @Override
    public <S extends RegionStatus> S status(String name, Class<S> kind) {
        throw new GatunException(ErrorCode.NOT_FOUND, "Unable to find system shared memory region: '" + name + "'");
    }

    @Override
    public List<RegionStatus> statuses() {
        return List.of();
    }

    @Override
    public void unregister(String name, Class<? extends RegionStatus> kind) {}

    @Override
    public RegionLease borrow(String name, long offset, long byteSize, Access access) {
        throw new GatunException(ErrorCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
    }

    @Override
    public void close() {}
}
