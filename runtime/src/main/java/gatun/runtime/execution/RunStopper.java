// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.threads.FailureLog;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the engine of one instance to stop a run when nobody wants its responses any more. Thread-safe. */
final class RunStopper {
    private static final Logger LOG = LoggerFactory.getLogger(RunStopper.class);

    private final String instanceName;
    private final String modelName;

    /** Keeps a run from ending while the engine is told to stop it. Held for a moment only: telling sets a mark. */
    private final ReentrantLock running = new ReentrantLock();

    /** The requests of the present run; guarded by {@link #running}. */
    private List<PendingInference> batch = List.of();

    private Runnable engine = () -> {}; // stops it; guarded by running
    private boolean stopped; // guarded by running

    RunStopper(String instanceName, String modelName) {
        this.instanceName = instanceName;
        this.modelName = modelName;
    }

    /** Begins a run of {@code requests}. By the thread of the run, as are {@link #end} and {@link #stopAgain}. */
    void begin(Runnable stop, List<PendingInference> requests) {
        running.lock();
        try {
            engine = stop;
            batch = requests;
            stopped = false;
        } finally {
            running.unlock();
        }
        for (int i = 0; i < requests.size(); i++) {
            requests.get(i).runBy(this);
        }
    }

    /** Ends the run as far as others are concerned: nobody stops it from now on. */
    void end() {
        running.lock();
        try {
            batch = List.of();
        } finally {
            running.unlock();
        }
    }

    /** Tells the engine to stop when nobody wants any response of the present run. For any thread. */
    void stopCancelled() {
        running.lock();
        try {
            if (!stopped && !batch.isEmpty() && areCancelled(batch)) {
                stopped = true;
                stop();
            }
        } finally {
            running.unlock();
        }
    }

    /** Tells the engine again to stop: at a run's beginning it forgets what it was told. */
    @SuppressWarnings("GuardedBy") // only this thread changes the batch
    void stopAgain() {
        if (batch.isEmpty() || !areCancelled(batch)) {
            return;
        }
        running.lock();
        try {
            stopped = true;
            stop();
        } finally {
            running.unlock();
        }
    }

    private void stop() {
        try {
            engine.run();
        } catch (RuntimeException | Error e) {
            // Whoever gave the requests up has more to do than to learn of that.
            FailureLog.write(
                    e,
                    failure -> LOG.error(
                            "Instance {} of model '{}' could not be told to stop", instanceName, modelName, failure));
        }
    }

    static boolean areCancelled(List<PendingInference> requests) {
        for (int i = 0; i < requests.size(); i++) {
            if (!requests.get(i).cancelled()) {
                return false;
            }
        }
        return true;
    }
}
