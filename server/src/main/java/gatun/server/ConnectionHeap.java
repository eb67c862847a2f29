// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.listener.OpenConnections.ConnectionLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The number of idle connections that the heap, of {@code byteSize} bytes, holds beside everything else. */
record ConnectionHeap(long byteSize) {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHeap.class);

    /** The most bytes of heap that an idle connection occupies. */
    private static final int PLAIN = 16 * 1024;

    /** The same over TLS; most of them are the TLS engine's. */
    private static final int SECURED = 24 * 1024;

    /** Part of the heap that connections may use; the rest is for requests and models. */
    private static final double SHARE = 0.6;

    static ConnectionHeap ofProcess() {
        return new ConnectionHeap(Runtime.getRuntime().maxMemory());
    }

    /** Lowers {@code limits} to the number of connections that the heap holds, and logs it where that is fewer. */
    ConnectionLimits fit(ConnectionLimits limits, boolean tls) {
        long held = (long) (SHARE * byteSize) / (tls ? SECURED : PLAIN);
        ConnectionLimits fitting = limits.within((int) Math.min(held, Integer.MAX_VALUE));
        if (fitting.most() < limits.most()) {
            LOG.info(
                    "The heap of {} MiB holds {} connections, and no more are taken; for --max-connections={} give it"
                            + " more (GATUN_JAVA_OPTS=-Xmx...)",
                    byteSize >> 20,
                    fitting.most(),
                    limits.most());
        }
        return fitting;
    }
}
