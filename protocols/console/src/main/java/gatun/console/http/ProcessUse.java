// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The resources that the server's process uses. For one thread at a time. */
final class ProcessUse {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESIDENT = "VmRSS:";
    private static final long BYTES_PER_KIB = 1024;

    /** Counting descriptors takes longer the more there are. */
    private static final long FILES_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Found by the first look, since finding it loads the JVM's management. */
    private java.lang.management.@Nullable OperatingSystemMXBean system;

    private long cpuNanos;
    private long lookedNanos = System.nanoTime();
    private double cpuPerSecond;
    private long openFiles = -1;
    private long filesNanos;

    /** Notes how long processors have worked for the process since the last call. To be called each second. */
    void look() {
        long now = System.nanoTime();
        if (system == null) {
            system = ManagementFactory.getOperatingSystemMXBean();
        }
        if (system instanceof OperatingSystemMXBean own) {
            long cpu = own.getProcessCpuTime();
            cpuPerSecond = cpuNanos == 0 ? 0 : (double) (cpu - cpuNanos) / Math.max(1, now - lookedNanos);
            cpuNanos = cpu;
        }
        lookedNanos = now;
    }

    void write(JsonText json) {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        json.object("heap").member("usedBytes", heap.getUsed()).member("maxBytes", heap.getMax());
        json.endObject();
        json.object("process").member("cpuPerSecond", cpuPerSecond);
        residentBytes().ifPresent(bytes -> json.member("residentBytes", bytes));
        json.member("threads", ManagementFactory.getThreadMXBean().getThreadCount());
        if (openFiles() >= 0) {
            json.member("openFiles", openFiles());
        }
        json.endObject();
    }

    private long openFiles() {
        long now = System.nanoTime();
        if ((openFiles < 0 || now - filesNanos > FILES_NANOS) && system instanceof UnixOperatingSystemMXBean unix) {
            openFiles = unix.getOpenFileDescriptorCount();
            filesNanos = now;
        }
        return openFiles;
    }

    private static OptionalLong residentBytes() {
        try {
            return Files.readAllLines(STATUS).stream()
                    .filter(line -> line.startsWith(RESIDENT))
                    .map(line -> line.substring(RESIDENT.length()).strip().split(" ", -1)[0])
                    .mapToLong(kibibytes -> Long.parseLong(kibibytes) * BYTES_PER_KIB)
                    .findFirst();
        } catch (IOException notTold) {
            return OptionalLong.empty();
        }
    }
}
