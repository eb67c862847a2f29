// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

/** How the server is protected from a client that takes a region's memory away while it is used. */
public enum RegionKind {
    /** A memfd with F_SEAL_SHRINK: the system refuses to truncate it. No copy. */
    SEALED,
    /**
     * A POSIX object behind the fault guard: an access to memory that is gone reads zeros and marks the region broken.
     * No copy.
     */
    GUARDED,
    /**
     * A POSIX object without a guard: its windows are copied in Java, where a fault is an error and not the end of the
     * process.
     */
    COPIED
}
