// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.listener.OpenConnections.ConnectionLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file descriptors that the process may have, and has. Each connection takes one. */
record DescriptorLimit(long most, long used) {
    private static final Logger LOG = LoggerFactory.getLogger(DescriptorLimit.class);

    /** Kept for models, shared memory, logs, the metrics' connections and clients that are being refused. */
    private static final int RESERVED = 512;

    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final String NAME = "Max open files";

    /** The limit of this process; none where the system does not tell. */
    static DescriptorLimit ofProcess() {
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS)) {
            return new DescriptorLimit(softLimit(Files.readString(LIMITS)), descriptors.count());
        } catch (IOException e) {
            LOG.debug("the limit of file descriptors is not known", e);
            return new DescriptorLimit(Long.MAX_VALUE, 0);
        }
    }

    /** The soft limit of open files in the text of {@code /proc/self/limits}; without one, the greatest number. */
    static long softLimit(String limits) {
        for (String line : limits.split("\n", -1)) {
            if (line.startsWith(NAME)) {
                String soft = line.substring(NAME.length()).strip().split(" +", -1)[0];
                return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
            }
        }
        return Long.MAX_VALUE;
    }

    ConnectionLimits fit(ConnectionLimits limits) {
        long free = most - used;
        long available = Math.max(free - RESERVED, free / 2);
        ConnectionLimits fitting = limits.within((int) Math.min(available, Integer.MAX_VALUE));
        if (fitting.most() < limits.most()) {
            LOG.warn(
                    "This process may have {} file descriptors, too few for --max-connections={}: {} connections are"
                            + " taken. Raise the limit (ulimit -n, LimitNOFILE) to {} or lower --max-connections",
                    most,
                    limits.most(),
                    fitting.most(),
                    limits.most() + used + RESERVED);
        }
        return fitting;
    }
}
