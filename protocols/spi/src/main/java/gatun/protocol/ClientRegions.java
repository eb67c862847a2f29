// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Setting;
import java.util.List;

/**
 * The shared memory of clients, as any protocol lets them register it. Safe for any thread; does not own the registry.
 */
public final class ClientRegions {
    private final RegionRegistry regions;
    private final boolean enabled;

    /**
     * The regions of {@code regions}.
     *
     * @param enabled whether clients may register and unregister regions
     */
    public ClientRegions(RegionRegistry regions, boolean enabled) {
        this.regions = regions;
        this.enabled = enabled;
    }

    /**
     * The registry, for who changes it.
     *
     * @throws GatunException UNSUPPORTED where clients may not
     */
    public RegionRegistry open() {
        requireAllowed();
        return regions;
    }

    /**
     * Checks that clients may share memory with this server.
     *
     * @throws GatunException UNSUPPORTED where they may not
     */
    public void requireAllowed() {
        if (!enabled) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "Client shared memory is disabled. Start the server with '" + Setting.ALLOW_CLIENT_SHM.with(true)
                            + "' to enable.");
        }
    }

    /**
     * The region of that name and kind; all of the kind where {@code name} is empty.
     *
     * @throws GatunException NOT_FOUND when there is none of that name
     */
    public <S extends RegionStatus> List<S> statuses(String name, Class<S> kind) {
        return name.isEmpty() ? regions.statuses(kind) : List.of(regions.status(name, kind));
    }

    /**
     * Forgets the region of that name and kind; all of the kind where {@code name} is empty.
     *
     * @throws GatunException UNSUPPORTED where clients may not
     */
    public void unregister(String name, Class<? extends RegionStatus> kind) {
        if (name.isEmpty()) {
            open().unregisterAll(kind);
        } else {
            open().unregister(name, kind);
        }
    }
}
