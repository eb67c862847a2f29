package gatun.http;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.RegionLease;
import gatun.memory.RegionRegistry;
import gatun.memory.RegionStatus;
import java.util.List;

/** Shared memory that nobody registered. */
final class NoRegions implements RegionRegistry {
    @Override
    public void register(String name, String key, long offset, long byteSize) {
        throw new GatunException(ErrorCode.INTERNAL, "Unable to open shared memory region: '" + key + "'");
    }

    @Override
    public RegionStatus status(String name) {
        throw new GatunException(ErrorCode.NOT_FOUND, "Unable to find system shared memory region: '" + name + "'");
    }

    @Override
    public List<RegionStatus> statuses() {
        return List.of();
    }

    @Override
    public void unregister(String name) {}

    @Override
    public void unregisterAll() {}

    @Override
    public RegionLease borrow(String name, long offset, long byteSize, Access access) {
        throw new GatunException(ErrorCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
    }

    @Override
    public void close() {}
}
