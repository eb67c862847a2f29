package gatun.server;

import java.util.ArrayList;
import java.util.List;

/** Listeners that stop together: each waits for its running requests, and none takes new ones meanwhile. */
final class Listeners implements AutoCloseable {
    private final List<Listener> listeners = new ArrayList<>();

    /** Takes ownership of {@code listener}. */
    void add(Listener listener) {
        listeners.add(listener);
    }

    /** Where they listen. */
    List<Endpoint> endpoints() {
        return listeners.stream().map(Listener::endpoint).toList();
    }

    @Override
    public void close() {
        List<Thread> closing = listeners.stream()
                .map(listener -> Thread.ofPlatform()
                        .name("stop-" + listener.endpoint().protocol().key())
                        .start(listener::close))
                .toList();
        for (Thread thread : closing) {
            join(thread);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
