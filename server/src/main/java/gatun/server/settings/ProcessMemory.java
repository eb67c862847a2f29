// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The memory that this process may have: the machine's, or that of its container where that is less. */
final class ProcessMemory {
    /** The buffer pool's size where nobody knows how much memory there is. */
    static final long LEAST_POOL_BYTE_SIZE = 256L << 20;

    /** Tensors get a quarter; the heap, models and engines have the rest. */
    private static final int POOL_SHARE = 4;

    private ProcessMemory() {}

    /** The buffer pool's size where nobody says another. */
    static long poolByteSize() {
        return poolByteSize(
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize());
    }

    /** The same for a process that may have {@code byteSize} bytes; 0 where that is not known. */
    static long poolByteSize(long byteSize) {
        return byteSize <= 0 ? LEAST_POOL_BYTE_SIZE : byteSize / POOL_SHARE;
    }
}
