// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.Objects;

/**
 * Where a run touches a tensor that lies in memory which a client can still write: there, or in a copy that only the
 * server can reach. In place is safe only where no value of the tensor decides an address, a size, a count, an order or
 * a branch, for which the engine may read it twice.
 *
 * @param isInPlace whether the engine may touch the client's own memory
 * @param reason why the tensor is copied, for people to read, such as {@code Gather 'embed' takes it as indices}; empty
 *     where it is not
 */
public record MemoryUse(boolean isInPlace, String reason) {
    /** In the client's own memory. */
    public static final MemoryUse IN_PLACE = new MemoryUse(true, "");

    public MemoryUse {
        Objects.requireNonNull(reason, "reason");
    }

    /** In a copy of the server's own, for that reason. */
    public static MemoryUse copied(String reason) {
        return new MemoryUse(false, reason);
    }
}
