// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests of a connection, apart from those of people who only look at the server and are not to see themselves.
 * Written by the connection's thread, read by any.
 */
final class RequestCount {
    private final AtomicLong all = new AtomicLong();
    private final AtomicLong views = new AtomicLong();
    private volatile boolean viewing;

    /** The head of a request has come. */
    void begin() {
        if (viewing) {
            viewing = false;
        }
        all.lazySet(all.getPlain() + 1);
    }

    /** The current request only looks at the server. */
    void markView() {
        if (!viewing) {
            viewing = true;
            views.lazySet(views.getPlain() + 1);
        }
    }

    /** Whether the current request, or the last one, only looks at the server. */
    boolean isViewing() {
        return viewing;
    }

    /** The requests of clients. */
    long ofClients() {
        return Math.max(0, all.get() - views.get());
    }

    /** Whether all requests so far, at least one, only looked at the server. */
    boolean isViewerOnly() {
        return views.get() > 0 && ofClients() == 0;
    }
}
