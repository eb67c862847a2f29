// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.runtime.execution.SharedHolds;
import java.util.List;

/**
 * The outputs of one response, in one piece of the cache's memory that nobody writes to any more. The cache and every
 * response that shows it have a claim on it; the memory goes back with the last. Safe for any thread.
 */
final class CacheEntry {
    private final List<Tensor> outputs;
    private final SharedHolds users;

    /** Owns {@code memory}, in which {@code outputs} lie; the cache is its first user. */
    CacheEntry(Buffer memory, List<Tensor> outputs) {
        users = new SharedHolds(List.of(memory));
        this.outputs = List.copyOf(outputs);
    }

    /** The outputs; valid for those who have a claim. */
    List<Tensor> outputs() {
        return outputs;
    }

    /** One more claim, closed exactly once; called by somebody who has one. */
    Hold claim() {
        return users.share();
    }

    /** One claim less. */
    void release() {
        users.release();
    }
}
