// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All regions of this process that servers were told of, so that its end cleans up after those that nobody released.
 * Safe for any thread.
 */
final class OpenRegions {
    /** A server that does not answer must not keep the process. */
    private static final Duration EXIT_LIMIT = Duration.ofSeconds(1);

    private static final Set<RegisteredRegion> OPEN = ConcurrentHashMap.newKeySet();

    static {
        try {
            Runtime.getRuntime()
                    .addShutdownHook(Thread.ofPlatform()
                            .name("gatun-shared-tensors-exit")
                            .unstarted(OpenRegions::cleanUp));
        } catch (IllegalStateException e) {
            // The process is ending: who opens shared tensors now has to close them.
        }
    }

    private OpenRegions() {}

    static void add(RegisteredRegion region) {
        OPEN.add(region);
    }

    static void remove(RegisteredRegion region) {
        OPEN.remove(region);
    }

    private static void cleanUp() {
        List<RegisteredRegion> left = new ArrayList<>(OPEN);
        List<Thread> asking = new ArrayList<>(left.size());
        for (RegisteredRegion region : left) {
            asking.add(Thread.ofVirtual().start(region::unregister));
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
        for (RegisteredRegion region : left) {
            region.forget();
        }
    }
}
