// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.runtime.access.PeerLocation;
import gatun.spi.Setting;
import java.util.List;

/** Clients' shared memory for all protocols, and who may use it. Thread-safe; does not own the registry. */
public final class ClientRegions {
    private final RegionRegistry regions;
    private final Rules rules;

    /**
     * What clients may do with shared memory.
     *
     * @param registration whether they may register and unregister regions, and open lanes
     * @param otherMachines whether clients on other machines may do what those on this machine may. A region's name is
     *     all that a request needs for using it, and the clients of a machine that share memory with a server are
     *     those of its operator
     */
    public record Rules(boolean registration, boolean otherMachines) {
        /** Clients on this machine use the regions that there are, and register none. */
        public static final Rules STANDARD = new Rules(false, false);

        /** The same with another choice for registration. */
        public Rules withRegistration(boolean allowed) {
            return new Rules(allowed, otherMachines);
        }
    }

    /** The regions of {@code regions}. */
    public ClientRegions(RegionRegistry regions, Rules rules) {
        this.regions = regions;
        this.rules = rules;
    }

    /** The registry, for changes. Throws PERMISSION_DENIED where that client may not, UNSUPPORTED where none may. */
    public RegionRegistry open(PeerLocation client) {
        requireAllowed(client);
        return regions;
    }

    /** Throws PERMISSION_DENIED where that client may not share memory, UNSUPPORTED where none may. */
    public void requireAllowed(PeerLocation client) {
        requireNear(client);
        if (!rules.registration) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "Client shared memory is disabled. Start the server with '" + Setting.ALLOW_CLIENT_SHM.with(true)
                            + "' to enable.");
        }
    }

    /** Whether a client may see and use regions. */
    public boolean mayUse(PeerLocation client) {
        return client == PeerLocation.THIS_MACHINE || rules.otherMachines;
    }

    private void requireNear(PeerLocation client) {
        if (!mayUse(client)) {
            throw new GatunException(
                    ErrorCode.PERMISSION_DENIED,
                    "Shared memory is for clients on the server's machine, and this request comes from another, or"
                            + " through a proxy. Send the tensors in the request, or start the server with '"
                            + Setting.ALLOW_REMOTE_CLIENT_SHM.with(true) + "' to let all who reach it use the shared"
                            + " memory of any client.");
        }
    }

    /**
     * Borrows a window of a region, by unsigned 64-bit numbers. Throws PERMISSION_DENIED where clients on that machine
     * may not, NOT_FOUND or INVALID_ARGUMENT with the protocol's texts.
     */
    public RegionLease borrow(
            PeerLocation client, String name, long offset, long byteSize, RegionRegistry.Access access) {
        requireNear(client);
        return regions.borrow(name, offset, byteSize, access);
    }

    /**
     * The region of that name and kind; all of the kind where {@code name} is empty. Throws PERMISSION_DENIED where
     * clients on that machine may not know, NOT_FOUND when there is none of that name.
     */
    public <S extends RegionStatus> List<S> statuses(PeerLocation client, String name, Class<S> kind) {
        requireNear(client);
        return name.isEmpty() ? regions.statuses(kind) : List.of(regions.status(name, kind));
    }

    /** All regions by name. Throws PERMISSION_DENIED where clients on that machine may not know. */
    public List<RegionStatus> statuses(PeerLocation client) {
        requireNear(client);
        return regions.statuses();
    }

    /**
     * Forgets the region of that name and kind; all of the kind where {@code name} is empty. Throws PERMISSION_DENIED
     * where clients on that machine may not, UNSUPPORTED where none may.
     */
    public void unregister(PeerLocation client, String name, Class<? extends RegionStatus> kind) {
        RegionRegistry open = open(client);
        if (name.isEmpty()) {
            open.unregisterAll(kind);
        } else {
            open.unregister(name, kind);
        }
    }
}
