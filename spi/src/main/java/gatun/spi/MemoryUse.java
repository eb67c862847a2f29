// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.Objects;

/**
 * Where a run touches a tensor that lies in memory which a client can still write: there, or in a copy that only the
 * server can reach. In place is safe only where no value of the tensor decides an address, a size, a count, an order or
 * a branch, for which the engine may read it twice.
 *
 * @param place whose memory the engine touches
 * @param reason why the tensor is copied, for people to read, such as {@code Gather 'embed' takes it as indices}; where
 *     it is not, why that is safe, or empty where there is nothing to say
 */
public record MemoryUse(Place place, String reason) {
    /** Whose memory an engine touches. */
    public enum Place {
        /** The client's own. */
        CLIENT,
        /** A copy that the server makes before the engine sees an input, or after it has written an output. */
        SERVER,
        /** A copy that the engine makes: each byte of the client's memory is touched once. */
        ENGINE
    }

    /** In the client's own memory. */
    public static final MemoryUse IN_PLACE = new MemoryUse(Place.CLIENT, "");

    public MemoryUse {
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(reason, "reason");
    }

    /** In a copy of the server's own, for that reason. */
    public static MemoryUse copied(String reason) {
        return new MemoryUse(Place.SERVER, reason);
    }

    /** In memory of the engine's own, for that reason. */
    public static MemoryUse copiedByEngine(String reason) {
        return new MemoryUse(Place.ENGINE, reason);
    }

    /** Whether the engine may touch the client's own memory. */
    public boolean isInPlace() {
        return place == Place.CLIENT;
    }
}
