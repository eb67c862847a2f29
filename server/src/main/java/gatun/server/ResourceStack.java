// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import java.util.ArrayDeque;
import java.util.Deque;

/** Resources closed in reverse order; all are closed, failures suppressed into the first. Not thread-safe. */
final class ResourceStack implements AutoCloseable {
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T resource) {
        resources.push(resource);
        return resource;
    }

    @Override
    public void close() {
        RuntimeException first = null;
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                if (first == null) {
                    first = e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
