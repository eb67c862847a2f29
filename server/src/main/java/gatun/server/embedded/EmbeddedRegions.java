// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import static gatun.server.embedded.EmbeddedErrors.translated;

import gatun.client.CudaRegion;
import gatun.client.RegionControl;
import gatun.client.SystemRegion;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SystemRegionStatus;
import gatun.runtime.server.InferenceServer;
import java.util.List;
import java.util.function.Consumer;

/**
 * The regions that are registered with a server in this process; those of other processes too, where they are allowed.
 */
final class EmbeddedRegions implements RegionControl {
    private final InferenceServer server;
    private final Runnable requireOpen;

    /** @param requireOpen throws when the server was closed */
    EmbeddedRegions(InferenceServer server, Runnable requireOpen) {
        this.server = server;
        this.requireOpen = requireOpen;
    }

    @Override
    public void register(String name, String key, long offset, long byteSize) {
        change(regions -> regions.register(name, key, offset, byteSize));
    }

    @Override
    public void registerCuda(String name, byte[] handle, int device, long byteSize) {
        change(regions -> regions.registerCuda(name, handle, device, byteSize));
    }

    @Override
    public void unregister(String name) {
        change(regions -> regions.unregister(name, SystemRegionStatus.class));
    }

    @Override
    public void unregisterCuda(String name) {
        change(regions -> regions.unregister(name, CudaRegionStatus.class));
    }

    @Override
    public void unregisterAll() {
        change(regions -> regions.unregisterAll(SystemRegionStatus.class));
    }

    @Override
    public void unregisterAllCuda() {
        change(regions -> regions.unregisterAll(CudaRegionStatus.class));
    }

    @Override
    public List<SystemRegion> regions() {
        requireOpen.run();
        return server.regions().statuses(SystemRegionStatus.class).stream()
                .map(region -> new SystemRegion(region.name(), region.key(), region.offset(), region.byteSize()))
                .toList();
    }

    @Override
    public List<CudaRegion> cudaRegions() {
        requireOpen.run();
        return server.regions().statuses(CudaRegionStatus.class).stream()
                .map(region -> new CudaRegion(region.name(), region.device(), region.byteSize()))
                .toList();
    }

    private void change(Consumer<RegionRegistry> change) {
        requireOpen.run();
        translated(() -> {
            change.accept(server.regions());
            return server;
        });
    }
}
