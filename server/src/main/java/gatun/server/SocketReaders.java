// SPDX-License-Identifier: Apache-2.0
package gatun.server;

/** Decides how many threads poll sockets, which the JVM reads once. A value from the command line stays. */
public final class SocketReaders {
    private static final String READERS = "jdk.readPollers";

    private SocketReaders() {}

    /** Sets the property unless it is set, for the JVM's cores. Call before any virtual thread runs. */
    public static void configure() {
        if (System.getProperty(READERS) == null) {
            // Logical processors, as the JVM itself counts: readers mostly wait in the system.
            int processors = Runtime.getRuntime().availableProcessors();
            // The JVM would start a reader for each core. Fewer find more at a time, and wake others less often; the
            // JVM asks for a power of two.
            System.setProperty(READERS, Integer.toString(Integer.highestOneBit(Math.max(1, processors / 4))));
        }
    }
}
