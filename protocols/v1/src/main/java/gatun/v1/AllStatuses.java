// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.tensor.Hold;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.v1.ServerStatus;
import java.util.function.Supplier;

/** The server and models, with their message's reserved heap, until it is sent. Not thread-safe. */
public final class AllStatuses implements AutoCloseable {
    private final HeapBudget budget;
    private final long byteSize;
    private final Supplier<ServerStatus> status;
    private Hold heap = () -> {};

    AllStatuses(HeapBudget budget, long byteSize, Supplier<ServerStatus> status) {
        this.budget = budget;
        this.byteSize = byteSize;
        this.status = status;
    }

    /** Makes the message; once. Throws as {@link HeapBudget#reserve}. */
    public ServerStatus read() {
        heap = budget.reserve(byteSize);
        return status.get();
    }

    @Override
    public void close() {
        heap.close();
    }
}
