// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Limits the tensor bytes of unwritten traces; the rest is left out, counted and logged once. Thread-safe. */
final class TraceMemory {
    private static final Logger LOG = LoggerFactory.getLogger(TraceMemory.class);

    private final long limit;
    private final AtomicLong held = new AtomicLong();
    private final AtomicLong leftOut = new AtomicLong();
    private final AtomicBoolean told = new AtomicBoolean();

    TraceMemory(long limit) {
        this.limit = limit;
    }

    /** Whether a trace may hold that many bytes of tensors. If it may, they are to be given back. */
    boolean take(long bytes) {
        if (bytes <= limit && held.addAndGet(bytes) <= limit) {
            return true;
        }
        if (bytes <= limit) {
            held.addAndGet(-bytes);
        }
        leftOut.incrementAndGet();
        if (told.compareAndSet(false, true)) {
            LOG.warn(
                    "Tensors of traces come faster than they are written and take more than {} bytes; some are left"
                            + " out",
                    limit);
        }
        return false;
    }

    /** Notes that this many bytes are not held any more. */
    void giveBack(long bytes) {
        held.addAndGet(-bytes);
    }

    long held() {
        return held.get();
    }

    /** Logs how many tensors were left out, if any were. */
    void close() {
        if (leftOut.get() > 0) {
            LOG.warn("{} tensors were left out of traces", leftOut.get());
        }
    }
}
