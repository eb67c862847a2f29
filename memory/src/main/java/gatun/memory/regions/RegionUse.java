// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * A registered region and who uses it, for people to read.
 *
 * @param status the region
 * @param kind how the server is protected from the region's owner; empty for memory of a GPU
 * @param owner the process that it was registered from, where that is known for certain
 * @param user the number of the user whose object it is; empty for memory of a GPU
 * @param leases how many requests use it now
 * @param leaving whether it was unregistered, and goes when the last of them has ended
 */
public record RegionUse(
        RegionStatus status,
        Optional<RegionKind> kind,
        OptionalLong owner,
        OptionalLong user,
        int leases,
        boolean leaving) {

    /** How the server is protected from a client that takes a region's memory away while it is used. */
    public enum RegionKind {
        /** A memfd with F_SEAL_SHRINK: the system refuses to truncate it. No copy. */
        SEALED,
        /** A POSIX object behind the fault guard: missing memory reads as zeros, and marks the region broken. */
        GUARDED,
        /** A POSIX object without a guard: its windows are copied in Java, where a fault is an error. */
        COPIED
    }
}
