package gatun.server;

/**
 * Decides how many threads carry the virtual ones and how many look for data on sockets. The JVM reads both from system properties when
 * the first virtual thread starts; what the operator gave on the command line stays.
 */
public final class CarrierThreads {
    private static final String CARRIERS = "jdk.virtualThreadScheduler.parallelism";
    private static final String READERS = "jdk.readPollers";

    private CarrierThreads() {}

    /** Sets what is not set yet, for the cores that the JVM was given, a container's limit included. Call before any virtual thread. */
    public static void configure() {
        int cores = Runtime.getRuntime().availableProcessors();
        // Short runs of engines may hold all carriers but one: with one more than cores they may take every core.
        configure(CARRIERS, cores + 1);
        // The JVM would have a reader for each core. Fewer find more at a time, and wake others less often; it asks for
        // powers of two.
        configure(READERS, Integer.highestOneBit(Math.max(1, cores / 4)));
    }

    private static void configure(String property, int count) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, Integer.toString(count));
        }
    }
}
