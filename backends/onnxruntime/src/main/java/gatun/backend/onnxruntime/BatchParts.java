// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.LoadingThread.TaskResult;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

/** Runs a batch in parts: one here, others on engine threads, all in place. Not thread-safe. */
final class BatchParts implements AutoCloseable {
    private final Engine engine;
    /** Some rows each, which a thread runs; not touched by others until the run has ended. */
    private final RunArguments[] parts;

    /** The row after the last one of each part of the present run. */
    private final long[] ends;

    /** At most {@code most} parts. {@code arena} holds their arguments; closed after this. */
    BatchParts(Engine engine, ModelDescription model, int most, Arena arena) {
        this.engine = engine;
        parts = new RunArguments[most];
        ends = new long[most];
        for (int i = 0; i < most; i++) {
            parts[i] = new RunArguments(engine, model, arena);
        }
    }

    /** Runs a batch of {@code rows}, cut at {@code borders}; a failed part's status, to be freed, or 0. */
    long run(RunArguments whole, long rows, RequestBorders borders, Session session, RunOptions options) {
        int count = borders.cut(ends);
        long first = 0;
        for (int i = 0; i < count; i++) {
            parts[i].bindRows(whole, rows, first, ends[i] - first);
            first = ends[i];
        }
        List<Future<Long>> others = new ArrayList<>(count - 1);
        long status;
        try {
            for (int i = 1; i < count; i++) {
                RunArguments part = parts[i];
                others.add(engine.partThreads().run(() -> part.run(session, options)));
            }
            status = parts[0].run(session, options);
        } finally {
            // Whatever happens here, the engine reads and writes the batch's memory until they have ended.
            others.forEach(TaskResult::await);
        }
        for (Future<Long> other : others) {
            status = firstFailure(status, TaskResult.of(other));
        }
        return status;
    }

    private long firstFailure(long status, long next) {
        if (status == 0) {
            return next;
        }
        if (next != 0) {
            engine.releaseStatus(next);
        }
        return status;
    }

    @Override
    public void close() {
        for (RunArguments part : parts) {
            part.close();
        }
    }
}
