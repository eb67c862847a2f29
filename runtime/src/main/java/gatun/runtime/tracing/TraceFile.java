package gatun.runtime.tracing;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes traces as Triton does: an array of objects, each telling something of the trace whose id it names. The file is whole after each
 * trace. A thread of its own writes; when it cannot follow, traces are dropped and the log says so. Safe for any thread.
 */
public final class TraceFile implements TraceExporter {
    private static final Logger LOG = LoggerFactory.getLogger(TraceFile.class);

    /** How many traces may wait for the writer. */
    private static final int CAPACITY = 10_000;

    /** How many traces a file may be awaited by in memory, whatever frequency a client asks for: it must not exhaust that. */
    private static final int MOST_COLLECTED = 1_000;

    private static final byte[] END = "\n]\n".getBytes(StandardCharsets.UTF_8);

    private final String file;
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>(CAPACITY);
    private final Thread writer;
    private final AtomicBoolean dropped = new AtomicBoolean();

    // Used by the writer only.
    private final Map<TraceScope, List<RequestTrace>> collected = new HashMap<>();
    private int index;
    private boolean begun;
    private boolean ended;

    private TraceFile(String file) {
        this.file = file;
        this.writer = Thread.ofPlatform().daemon().name("trace-file").unstarted(this::write);
    }

    /** Writes to {@code file}, which is replaced when the first trace comes, and to files of this name with a number. */
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
    public String obstacle() {
        return file.isEmpty() ? "trace file name is not given" : "";
    }

    @Override
    public void export(RequestTrace trace) {
        if (!work.offer(() -> collect(trace)) && dropped.compareAndSet(false, true)) {
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
                return;
            }
        }
    }

    private void collect(RequestTrace trace) {
        long frequency = trace.scope().settings().logFrequency();
        if (frequency == 0) {
            save(Path.of(file), List.of(trace), begun);
            begun = true;
            return;
        }
        List<RequestTrace> traces = collected.computeIfAbsent(trace.scope(), scope -> new ArrayList<>());
        traces.add(trace);
        if (traces.size() >= Math.min(frequency, MOST_COLLECTED)) {
            collected.remove(trace.scope());
            saveNumbered(traces);
        }
    }

    private void writeCollected() {
        collected.values().forEach(this::saveNumbered);
        collected.clear();
    }

    private void saveNumbered(List<RequestTrace> traces) {
        save(Path.of(file + "." + index++), traces, false);
    }

    private static void save(Path target, List<RequestTrace> traces, boolean append) {
        StringBuilder text = new StringBuilder();
        for (RequestTrace trace : traces) {
            for (String object : objects(trace)) {
                text.append(append || !text.isEmpty() ? ",\n" : "[\n").append(object);
            }
        }
        ByteBuffer bytes = StandardCharsets.UTF_8.encode(text.toString());
        try (FileChannel channel = append
                ? FileChannel.open(target, StandardOpenOption.WRITE)
                : FileChannel.open(
                        target,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            channel.position(append ? channel.size() - END.length : 0);
            writeFully(channel, bytes);
            writeFully(channel, ByteBuffer.wrap(END));
        } catch (IOException e) {
            LOG.warn("Traces cannot be written to {}: {}", target, e.getMessage());
        }
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private static List<String> objects(RequestTrace trace) {
        List<String> objects = new ArrayList<>();
        objects.add(object(trace.id(), json -> {
            json.name("model_name").value(trace.modelName());
            json.name("model_version").value(trace.modelVersion());
            if (!trace.requestId().isEmpty()) {
                json.name("request_id").value(trace.requestId());
            }
            if (trace.parentId() != RequestTrace.NO_PARENT) {
                json.name("parent_id").value(trace.parentId());
            }
        }));
        for (TraceEvent event : trace.events()) {
            objects.add(object(trace.id(), json -> write(json, event)));
        }
        return objects;
    }

    private interface Members {
        void write(JsonWriter json) throws IOException;
    }

    private static String object(long id, Members members) {
        StringWriter text = new StringWriter();
        try (JsonWriter json = new JsonWriter(text)) {
            json.beginObject().name("id").value(id);
            members.write(json);
            json.endObject();
        } catch (IOException e) {
            throw new AssertionError("writing to memory", e);
        }
        return text.toString();
    }

    private static void write(JsonWriter json, TraceEvent event) throws IOException {
        switch (event) {
            case TraceEvent.Timestamp timestamp -> {
                json.name("timestamps").beginArray().beginObject();
                json.name("name").value(timestamp.stage().name());
                json.name("ns").value(timestamp.nanos());
                json.endObject().endArray();
            }
            case TraceEvent.TensorData tensor -> {
                json.name("activity").value(tensor.activity()).name("tensor").beginObject();
                json.name("name").value(tensor.name()).name("data").value(tensor.data());
                json.name("shape").value(tensor.shape()).name("dtype").value(tensor.datatype());
                json.endObject();
            }
        }
    }
}
