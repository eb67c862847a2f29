// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.ModelStatus.LoadProgress;
import gatun.runtime.ModelStatus.LoadProgress.Phase;
import java.util.concurrent.locks.ReentrantLock;

/** Is told by those who load a version how far they are, and tells it to those who look. Safe for any thread. */
public final class LoadWatch {
    private final ReentrantLock changing = new ReentrantLock();
    private volatile LoadProgress progress = new LoadProgress(Phase.WAITING, 0, 0, System.currentTimeMillis());

    /** A part of the load begins; changes nothing when a later one has begun. */
    public void begin(Phase phase) {
        change(phase, 0, 0);
    }

    void beginInstances(int count) {
        change(Phase.INSTANCES, 0, count);
    }

    void instanceReady() {
        change(Phase.INSTANCES, 1, 0);
    }

    private void change(Phase phase, int moreReady, int moreInstances) {
        changing.lock();
        try {
            LoadProgress now = progress;
            progress = new LoadProgress(
                    phase.compareTo(now.phase()) > 0 ? phase : now.phase(),
                    now.instancesReady() + moreReady,
                    now.instances() + moreInstances,
                    now.beganMillis());
        } finally {
            changing.unlock();
        }
    }

    /** How far the load is. */
    public LoadProgress progress() {
        return progress;
    }
}
