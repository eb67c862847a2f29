// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.GatunException;
import gatun.spi.Tuning;
import gatun.workers.FrameReader;
import gatun.workers.FrameWriter;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerProcess;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** A process that says what it is told, so that what is written to a frame is read from one. */
final class Echo implements WorkerProcess.Listener, AutoCloseable {
    private final BlockingQueue<Result> results = new LinkedBlockingQueue<>();
    private final WorkerProcess process =
            WorkerProcess.start(new WorkerProcess.Command("echo", new ProcessBuilder("cat")));
    private volatile Function<FrameReader, ?> reader = frame -> "";

    /** What reading a frame gave, or how it failed. */
    private sealed interface Result {
        record Value(Object value) implements Result {}

        record Failure(GatunException reason) implements Result {}
    }

    Echo() {
        process.listen(this, Tuning.OFF);
    }

    /** What {@code read} reads of a frame that {@code body} has written; fails as either of them. */
    <T> T through(Consumer<FrameWriter> body, Function<FrameReader, T> read) {
        reader = read;
        process.send(1, body);
        try {
            Result result = results.poll(30, TimeUnit.SECONDS);
            if (result instanceof Result.Failure failure) {
                throw failure.reason();
            }
            if (result instanceof Result.Value value) {
                @SuppressWarnings("unchecked") // what the function gave
                T typed = (T) value.value();
                return typed;
            }
            throw new AssertionError("no frame came back");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void frame(int kind, FrameReader frame) {
        try {
            results.add(new Result.Value(reader.apply(frame)));
        } catch (GatunException e) {
            results.add(new Result.Failure(e));
        }
    }

    @Override
    public void ended(WorkerEnd how) {}

    @Override
    public void close() {
        process.close();
    }
}
