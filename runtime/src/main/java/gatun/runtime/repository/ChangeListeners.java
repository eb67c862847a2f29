// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.Subscription;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listeners to changes of models' states. Safe for any thread. */
public final class ChangeListeners {
    private static final Logger LOG = LoggerFactory.getLogger(ChangeListeners.class);

    /** By subscription: the same listener may come twice. */
    private final Map<Object, Runnable> listeners = new ConcurrentHashMap<>();

    /** Nobody yet. */
    public ChangeListeners() {}

    /** Has {@code listener} called after each change. */
    public Subscription add(Runnable listener) {
        Object subscription = new Object();
        listeners.put(subscription, listener);
        return () -> listeners.remove(subscription);
    }

    /** Tells everybody of a change that has been made. */
    public void changed() {
        for (Runnable listener : listeners.values()) {
            try {
                listener.run();
            } catch (RuntimeException e) {
                LOG.error("A listener for changes of models failed", e);
            }
        }
    }
}
