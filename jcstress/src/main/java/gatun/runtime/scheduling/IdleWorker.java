// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;

/** A worker that is never run. */
record IdleWorker(boolean isBoundToThread) implements Worker<Ticket> {
    @Override
    public String threadName() {
        return "idle";
    }

    @Override
    public void open() {}

    @Override
    public long run(List<Ticket> batch) {
        return 0;
    }

    @Override
    public void close() {}
}
