// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

/** A registered region, as status calls list it. */
public sealed interface RegionStatus permits SystemRegionStatus, CudaRegionStatus {
    /** The client's name for it. */
    String name();

    /** Its size in bytes. */
    long byteSize();
}
