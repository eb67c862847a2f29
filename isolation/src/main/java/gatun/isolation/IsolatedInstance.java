// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.isolation.frames.Job;
import gatun.memory.tensor.Hold;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs requests on an instance in a process. */
final class IsolatedInstance implements BackendInstance {
    private final EngineSlot slot;
    private final int number;
    private final Duration executionLimit;

    /** Where the run under way is. */
    private final AtomicReference<EngineSlot.@Nullable Serving> present = new AtomicReference<>();

    /** @param number of the instance among those of the slot */
    IsolatedInstance(EngineSlot slot, int number, Duration executionLimit) {
        this.slot = slot;
        this.number = number;
        this.executionLimit = executionLimit;
    }

    @Override
    public boolean isBoundToThread() {
        return false;
    }

    @Override
    public void execute(Execution execution) {
        run(Job.EXECUTE, List.of(execution));
    }

    @Override
    public void executeApart(List<? extends Execution> executions) {
        run(Job.EXECUTE_APART, executions);
    }

    @Override
    public void warmUp() {
        run(Job.WARM_UP, List.of());
    }

    @Override
    public void trimMemory() {
        run(Job.TRIM_MEMORY, List.of());
    }

    private void run(Job job, List<? extends Execution> executions) {
        EngineSlot.Serving serving = slot.serving();
        EngineProcess process = serving.process();
        RunLine line = serving.line(number);
        Hold memory = process.memory().use();
        try {
            if (!line.tryUse()) {
                throw process.death();
            }
            try {
                present.set(serving);
                new IsolatedRun(process, line, job, executions).run(executionLimit);
            } finally {
                present.set(null);
                line.leave();
            }
        } finally {
            memory.close();
        }
    }

    @Override
    public void stop() {
        EngineSlot.Serving serving = present.get();
        if (serving != null) {
            RunLine line = serving.line(number);
            line.askToStop(true);
            serving.process().stop(line);
        }
    }

    @Override
    public void abort() {
        slot.abort();
    }

    @Override
    public void close() {
        slot.leave();
    }
}
