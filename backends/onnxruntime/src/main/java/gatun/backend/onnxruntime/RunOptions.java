// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.onnxruntime.OrtApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;

/** The options of an instance's runs, by which a run can be told to stop. */
final class RunOptions implements AutoCloseable {
    private final Engine engine;
    private final MemorySegment handle;
    private final TerminateFlag terminate = new TerminateFlag(this::setTerminate, this::unsetTerminate);

    private volatile boolean stopped;

    /** @param entries of the configuration of every run, by their names */
    RunOptions(Engine engine, Map<String, String> entries) {
        this.engine = engine;
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.createRunOptions(engine.api(), out));
            handle = out.get(ValueLayout.ADDRESS, 0);
            entries.forEach((name, value) -> engine.check(OrtApi.addRunConfigEntry(
                    engine.api(), handle, scratch.allocateFrom(name), scratch.allocateFrom(value))));
        }
    }

    /** Options for a run that stops at once and returns the arena's unused memory. */
    static RunOptions trimming(Engine engine) {
        RunOptions options = new RunOptions(engine, Map.of(OnnxParameters.SHRINKAGE, "cpu:0"));
        options.stop();
        return options;
    }

    MemorySegment handle() {
        return handle;
    }

    /** Tells the run under way to stop before its next operator. For any thread. */
    void stop() {
        stopped = true;
        terminate.raise();
    }

    void forgetStop() {
        stopped = false;
    }

    /** Whether a run was told to stop since {@link #forgetStop}. */
    boolean isStopped() {
        return stopped;
    }

    /** Tells a run again that has forgotten it at its beginning. */
    void stopAgain() {
        if (stopped) {
            terminate.raise();
        }
    }

    /** Lets the next run go on, whether or not one was stopped. */
    void resume() {
        terminate.clear();
    }

    private void setTerminate() {
        engine.check(OrtApi.runOptionsSetTerminate(engine.api(), handle));
    }

    private void unsetTerminate() {
        engine.check(OrtApi.runOptionsUnsetTerminate(engine.api(), handle));
    }

    @Override
    public void close() {
        OrtApi.releaseRunOptions(engine.api(), handle);
    }

    /** The stop flag, which the engine never clears. {@link #raise} is for any thread, {@link #clear} for the run's. */
    static final class TerminateFlag {
        private final Runnable set;
        private final Runnable unset;

        /** True at the latest when the engine's flag has been set for good. */
        private volatile boolean raised;

        TerminateFlag(Runnable set, Runnable unset) {
            this.set = set;
            this.unset = unset;
        }

        void raise() {
            set.run();
            // Only now: a run that begins meanwhile would note the flag as cleared; set then, it stops all runs.
            raised = true;
        }

        void clear() {
            if (raised) {
                raised = false;
                unset.run();
            }
        }
    }
}
