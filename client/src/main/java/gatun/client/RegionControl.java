// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.util.List;

/**
 * The shared memory that clients registered with a server. Most have no need to call this: {@code SharedTensors} does.
 * Safe for any thread; each call fails with a {@link ClientException}.
 */
public interface RegionControl {
    /** Registers {@code byteSize} bytes at {@code offset} of the object {@code key} as {@code name}. */
    void register(String name, String key, long offset, long byteSize);

    /** Registers {@code byteSize} bytes of GPU {@code device} by CUDA's handle of 64 bytes. */
    void registerCuda(String name, byte[] handle, int device, long byteSize);

    /** Forgets a region of the system's memory; unknown names are no error. */
    void unregister(String name);

    /** Forgets a region of a GPU's memory; unknown names are no error. */
    void unregisterCuda(String name);

    /** Forgets all regions of the system's memory, also those of other clients. */
    void unregisterAll();

    /** Forgets all regions of GPUs' memory, also those of other clients. */
    void unregisterAllCuda();

    /** All regions of the system's memory. */
    List<SystemRegion> regions();

    /** All regions of GPUs' memory. */
    List<CudaRegion> cudaRegions();
}
