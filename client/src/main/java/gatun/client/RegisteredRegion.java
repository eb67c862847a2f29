// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Memory that a server knows under a unique name. Owns the memory, and frees it in {@link #release}. For one thread at
 * a time, but for {@link #unregister} and {@link #forget} at the end of the process.
 */
final class RegisteredRegion {
    private final GatunClient client;
    private final SharedRegion memory;
    private final String name = uniqueName();

    RegisteredRegion(GatunClient client, SharedRegion memory) {
        this.client = client;
        this.memory = memory;
    }

    static String uniqueName() {
        return "gatun-" + ProcessHandle.current().pid() + "-"
                + Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    String name() {
        return name;
    }

    SharedRegion memory() {
        return memory;
    }

    /** All of the memory; refused where the processor cannot reach it. */
    MemorySegment segment() {
        return memory.segment();
    }

    /** All of the memory of a GPU; refused where it is none. */
    DeviceMemory device() {
        return memory.device();
    }

    /** Registers it for the first time. */
    void register() {
        OpenRegions.add(this);
        try {
            registerAgain();
        } catch (Throwable t) {
            OpenRegions.remove(this);
            throw t;
        }
    }

    /** Registers it with a server that was restarted. */
    void registerAgain() {
        memory.register(client.regions(), name);
    }

    /** Whether a request failed because the server does not know the region; nothing was computed then. */
    boolean isUnknown(ServerException failure) {
        String text = failure.getMessage();
        return text != null && text.contains("Unable to find") && text.contains(name);
    }

    /** Unregisters it. Returns the server's refusal; null where there is none or it cannot be reached. */
    @Nullable
    ClientException unregister() {
        try {
            memory.unregister(client.regions(), name);
            return null;
        } catch (UnreachableException | IllegalStateException e) {
            // The server is gone, and the region with it; or the client was closed before, as one who is in a hurry
            // does.
            return null;
        } catch (ClientException e) {
            return e;
        }
    }

    /** Removes the memory's name, so that nothing is left when the process ends; the memory stays. */
    void forget() {
        memory.forget();
    }

    /** Unregisters it and frees the memory in any case; returns as {@link #unregister}. */
    @Nullable
    ClientException release() {
        ClientException refusal = unregister();
        memory.free();
        OpenRegions.remove(this);
        return refusal;
    }

    /** All registered regions of this process, which its end unregisters if nobody did. Thread-safe. */
    static final class OpenRegions {
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
}
