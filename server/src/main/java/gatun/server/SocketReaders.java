// SPDX-License-Identifier: Apache-2.0
package gatun.server;

/**
 * Decides how many threads look for data on sockets. The JVM reads that from a system property when the first virtual
 * thread waits for some; what the operator gave on the command line stays.
 */
public final class SocketReaders {
    private static final String READERS = "jdk.readPollers";

    private SocketReaders() {}

    /**
     * Sets what is not set yet, for the cores that the JVM was given, a container's limit included. Call before any
     * virtual thread.
     */
    public static void configure() {
        if (System.getProperty(READERS) == null) {
            int cores = Runtime.getRuntime().availableProcessors();
            // The JVM would have a reader for each core. Fewer find more at a time, and wake others less often; it asks
            // for powers of two.
            System.setProperty(READERS, Integer.toString(Integer.highestOneBit(Math.max(1, cores / 4))));
        }
    }
}
