// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.function.IntConsumer;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The threads that carry this JVM's virtual threads. */
final class Carriers {
    private static final String SCHEDULER = "jdk.management:type=VirtualThreadScheduler";
    private static final String PARALLELISM = "Parallelism";

    private Carriers() {}

    /** How many there are, as the JVM counts them: by logical processors, since what they carry mostly waits. */
    static int count() {
        return Integer.getInteger(
                "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
    }

    /** Changes how many there are; empty where the JVM cannot do that, which is so before Java 24. */
    static Optional<IntConsumer> ofThisJvm() {
        try {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName scheduler = new ObjectName(SCHEDULER);
            server.getAttribute(scheduler, PARALLELISM);
            return Optional.of(count -> set(server, scheduler, count));
        } catch (JMException e) {
            return Optional.empty();
        }
    }

    private static void set(MBeanServer server, ObjectName scheduler, int count) {
        try {
            server.setAttribute(scheduler, new Attribute(PARALLELISM, count));
        } catch (JMException e) {
            throw new IllegalStateException("the number of carrier threads cannot be changed to " + count, e);
        }
        // The scheduler looks for work for a new carrier when there is some next.
        Thread.ofVirtual().name("carrier-added").start(() -> {});
    }
}
