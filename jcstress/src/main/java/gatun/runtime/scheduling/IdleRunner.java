// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;

/** A runner that is never run. */
record IdleRunner(boolean isBoundToThread) implements BatchRunner<PendingRequest> {
    @Override
    public String threadName() {
        return "idle";
    }

    @Override
    public void open() {}

    @Override
    public long run(List<PendingRequest> batch) {
        return 0;
    }

    @Override
    public void close() {}
}
