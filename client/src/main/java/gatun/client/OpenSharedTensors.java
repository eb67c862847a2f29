// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All shared tensors of this process that are open, so that its end cleans up after those that nobody closed. Safe for
 * any thread.
 */
final class OpenSharedTensors {
    /** A server that does not answer must not keep the process. */
    private static final Duration EXIT_LIMIT = Duration.ofSeconds(1);

    private static final Set<SharedTensors> OPEN = ConcurrentHashMap.newKeySet();

    static {
        try {
            Runtime.getRuntime()
                    .addShutdownHook(Thread.ofPlatform()
                            .name("gatun-shared-tensors-exit")
                            .unstarted(OpenSharedTensors::cleanUp));
        } catch (IllegalStateException e) {
            // The process is ending: who opens shared tensors now has to close them.
        }
    }

    private OpenSharedTensors() {}

    static void add(SharedTensors tensors) {
        OPEN.add(tensors);
    }

    static void remove(SharedTensors tensors) {
        OPEN.remove(tensors);
    }

    private static void cleanUp() {
        List<SharedTensors> left = new ArrayList<>(OPEN);
        List<Thread> asking = new ArrayList<>(left.size());
        for (SharedTensors tensors : left) {
            asking.add(Thread.ofVirtual().start(tensors::unregisterAtExit));
        }
        long deadline = System.nanoTime() + EXIT_LIMIT.toNanos();
        try {
            for (Thread thread : asking) {
                long nanos = deadline - System.nanoTime();
                if (nanos <= 0 || !thread.join(Duration.ofNanos(nanos))) {
                    break;
                }
            }
        } catch (InterruptedException e) {
            // Somebody is in a hurry; the names go all the same.
        }
        for (SharedTensors tensors : left) {
            tensors.forgetAtExit();
        }
    }
}
