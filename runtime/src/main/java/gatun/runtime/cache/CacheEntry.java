package gatun.runtime.cache;

import gatun.memory.Buffer;
import gatun.memory.Hold;
import gatun.memory.Tensor;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The outputs of one response, in one piece of the cache's memory that nobody writes to any more. The cache and every response that shows
 * it have a claim on it; the memory goes back with the last. Safe for any thread.
 */
final class CacheEntry {
    private final Buffer memory;
    private final List<Tensor> outputs;
    private final AtomicInteger users = new AtomicInteger(1);

    /** Owns {@code memory}, in which {@code outputs} lie; the cache is its first user. */
    CacheEntry(Buffer memory, List<Tensor> outputs) {
        this.memory = memory;
        this.outputs = List.copyOf(outputs);
    }

    /** The outputs; valid for those who have a claim. */
    List<Tensor> outputs() {
        return outputs;
    }

    /** One more claim, closed exactly once; called by somebody who has one. */
    Hold claim() {
        users.incrementAndGet();
        return this::release;
    }

    /** One claim less. */
    void release() {
        if (users.decrementAndGet() == 0) {
            memory.close();
        }
    }
}
