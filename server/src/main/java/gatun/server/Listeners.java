// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.protocol.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listeners that stop together: each waits for its running requests, and none takes new ones meanwhile. */
final class Listeners implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

    /** An idle listener stops at once; one that has not stopped by then waits for a client. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final List<Listener> listeners = new ArrayList<>();

    void add(Listener listener) {
        listeners.add(listener);
    }

    List<Endpoint> endpoints() {
        return listeners.stream().map(Listener::endpoint).toList();
    }

    @Override
    public void close() {
        Map<Endpoint, Thread> closing = new LinkedHashMap<>();
        for (Listener listener : listeners) {
            Endpoint endpoint = listener.endpoint();
            closing.put(
                    endpoint,
                    Thread.ofPlatform().name("stop-" + endpoint.kind().key()).start(listener::close));
        }
        try {
            await(closing);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Map<Endpoint, Thread> closing) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        List<String> busy = new ArrayList<>();
        for (Map.Entry<Endpoint, Thread> entry : closing.entrySet()) {
            Duration timeout = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            if (!entry.getValue().join(timeout)) {
                busy.add(entry.getKey().url());
            }
        }
        if (!busy.isEmpty()) {
            LOG.info("Waiting for running requests at {}", String.join(", ", busy));
        }
        for (Thread thread : closing.values()) {
            thread.join();
        }
    }
}
