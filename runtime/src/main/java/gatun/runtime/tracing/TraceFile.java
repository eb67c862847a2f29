// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.memory.tensor.IoFailure;
import gatun.memory.threads.SupervisedThread;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes traces as Triton does: an array of objects, each telling something of the trace whose id it names. Where their
 * number is limited they go to a file with a number when the last of them has come. The file is whole after each write.
 * A thread of its own writes; when it cannot follow, traces are dropped and the log says so.
 * Safe for any thread.
 */
public final class TraceFile implements TraceExporter {
    private static final Logger LOG = LoggerFactory.getLogger(TraceFile.class);

    /** How many traces may wait for the writer. */
    private static final int CAPACITY = 10_000;

    /** The most traces that wait in memory for a file, whatever a client asks for: memory must not run out. */
    private static final int MOST_COLLECTED = 1_000;

    private final String file;
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>(CAPACITY);
    private final Thread writer;
    private final AtomicLong lost = new AtomicLong();

    // Used by the writer only.
    private final Map<TraceScope, Collected> collected = new HashMap<>();
    private int index;
    private boolean begun;

    /** Whether the log has said that the last traces could not be written. */
    private boolean failing;

    private boolean ended;

    /** Traces of one scope that wait for a file with a number. */
    private static final class Collected {
        final List<RequestTrace> waiting = new ArrayList<>();
        /** How many traces of the scope have come so far. */
        long count;
    }

    private TraceFile(String file) {
        this.file = file;
        this.writer = SupervisedThread.unstarted("trace-file", this::write);
    }

    /** Writes to {@code file}, replaced when the first trace comes, and to files of this name with a number. */
    public static TraceFile to(Path file) {
        TraceFile traces = new TraceFile(file.toString());
        traces.writer.start();
        return traces;
    }

    /** Where nothing can be traced to, since no file was named. */
    public static TraceFile nowhere() {
        return new TraceFile("");
    }

    @Override
    public String mode() {
        return "triton";
    }

    @Override
    public Map<String, String> settings() {
        return Map.of("trace_file", file);
    }

    @Override
    public boolean joinsClients() {
        return false;
    }

    @Override
    public boolean tellsTensors() {
        return true;
    }

    @Override
    public String obstacle() {
        return file.isEmpty() ? "trace file name is not given" : "";
    }

    @Override
    public void export(RequestTrace trace) {
        if (work.offer(() -> collect(trace))) {
            return;
        }
        trace.release();
        if (lost.getAndIncrement() == 0) {
            LOG.warn("Traces come faster than they can be written to {}; some are dropped", file);
        }
    }

    @Override
    public void flush() {
        if (writer.isAlive()) {
            put(this::writeCollected);
        }
    }

    @Override
    public void close() {
        if (!writer.isAlive()) {
            return;
        }
        put(() -> {
            writeCollected();
            ended = true;
        });
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (lost.get() > 0) {
            LOG.warn("{} traces were not written to {}", lost.get(), file);
        }
    }

    private void put(Runnable task) {
        try {
            work.put(task);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void write() {
        while (!ended) {
            try {
                work.take().run();
            } catch (InterruptedException e) {
                LOG.debug("The thread that writes traces was interrupted and goes on", e);
            }
        }
    }

    private void collect(RequestTrace trace) {
        TraceSettings settings = trace.scope().settings();
        if (settings.logFrequency() == 0 && settings.count() == TraceSettings.UNLIMITED) {
            saveUnnumbered(List.of(trace));
            return;
        }
        Collected traces = collected.computeIfAbsent(trace.scope(), scope -> new Collected());
        traces.waiting.add(trace);
        traces.count++;
        long most = settings.logFrequency() == 0 ? MOST_COLLECTED : Math.min(settings.logFrequency(), MOST_COLLECTED);
        if (traces.waiting.size() >= most || traces.count == settings.count()) {
            saveNumbered(traces.waiting);
            traces.waiting.clear();
        }
        if (traces.count == settings.count()) {
            collected.remove(trace.scope());
        }
    }

    /** Those of a limited number that has not come need no file of their own. */
    private void writeCollected() {
        collected.forEach((scope, traces) -> {
            if (traces.waiting.isEmpty()) {
                return;
            }
            if (scope.settings().logFrequency() == 0) {
                saveUnnumbered(traces.waiting);
            } else {
                saveNumbered(traces.waiting);
            }
        });
        collected.clear();
    }

    private void saveUnnumbered(List<RequestTrace> traces) {
        begun |= save(Path.of(file), traces, begun);
    }

    private void saveNumbered(List<RequestTrace> traces) {
        save(Path.of(file + "." + index++), traces, false);
    }

    /** Writes traces, or logs why that cannot be; tells which. */
    private boolean save(Path target, List<RequestTrace> traces, boolean append) {
        try {
            TraceJson.write(target, traces, append);
            failing = false;
            return true;
        } catch (IOException | RuntimeException e) {
            lost.addAndGet(traces.size());
            if (!failing) {
                LOG.warn("Traces cannot be written to {}: {}", target, IoFailure.reason(e));
            }
            failing = true;
            return false;
        } finally {
            traces.forEach(RequestTrace::release);
        }
    }
}
