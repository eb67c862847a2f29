// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** Reads what the process has spent so far. */
final class CostMeter {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** The cost so far; {@code workers} are alive. */
    ClientCost read(List<Thread> workers) {
        long[] ids = new long[workers.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = workers.get(i).threadId();
        }
        long ofWorkers = 0;
        for (long bytes : threads.getThreadAllocatedBytes(ids)) {
            ofWorkers += Math.max(0, bytes);
        }
        return new ClientCost(ofWorkers, threads.getTotalThreadAllocatedBytes(), system.getProcessCpuTime());
    }
}
