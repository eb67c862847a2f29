// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import com.google.gson.JsonPrimitive;
import com.google.gson.stream.JsonWriter;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ElementValues;
import gatun.memory.tensor.TensorSpec;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Traces as in Triton's files: an array of objects, each telling something of the trace whose id it names. */
final class TraceJson {
    private static final String END = "\n]\n";

    private TraceJson() {}

    /**
     * Writes traces to a file without having all their text in memory; on failure the file is as before, as far as can
     * be. Keeps its traces if {@code append}; begins it anew if it has none after all, or is gone.
     */
    static void write(Path file, List<RequestTrace> traces, boolean append) throws IOException {
        Set<StandardOpenOption> options = append
                ? Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE)
                : Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        try (FileChannel channel = FileChannel.open(file, options)) {
            long begin = Math.max(0, channel.size() - END.length());
            try {
                channel.position(begin);
                write(channel, traces, begin > 0);
            } catch (IOException | RuntimeException e) {
                restore(channel, begin);
                throw e;
            }
        }
    }

    private static void write(FileChannel channel, List<RequestTrace> traces, boolean append) throws IOException {
        // Not closed: it would close the channel, which is the caller's.
        Writer out = new BufferedWriter(Channels.newWriter(channel, StandardCharsets.UTF_8));
        String before = append ? ",\n" : "[\n";
        for (RequestTrace trace : traces) {
            out.write(before);
            before = ",\n";
            write(trace, out);
        }
        out.write(END);
        out.flush();
    }

    private static void write(RequestTrace trace, Writer out) throws IOException {
        writeHead(trace, out);
        for (TraceEvent event : trace.events()) {
            out.write(",\n");
            write(trace.id(), event, out);
        }
        for (RequestTrace child : trace.children()) {
            out.write(",\n");
            write(child, out);
        }
    }

    private static void restore(FileChannel channel, long begin) throws IOException {
        channel.truncate(begin);
        if (begin > 0) {
            channel.write(ByteBuffer.wrap(END.getBytes(StandardCharsets.UTF_8)), begin);
        }
    }

    private static JsonWriter begin(long id, Writer out) throws IOException {
        return new JsonWriter(out).beginObject().name("id").value(id);
    }

    private static void writeHead(RequestTrace trace, Writer out) throws IOException {
        JsonWriter json = begin(trace.id(), out);
        json.name("model_name").value(trace.modelName());
        json.name("model_version").value(trace.modelVersion());
        if (!trace.requestId().isEmpty()) {
            json.name("request_id").value(trace.requestId());
        }
        if (trace.parentId() != RequestTrace.NO_PARENT) {
            json.name("parent_id").value(trace.parentId());
        }
        json.endObject();
    }

    private static void write(long id, TraceEvent event, Writer out) throws IOException {
        JsonWriter json = begin(id, out);
        switch (event) {
            case TraceEvent.Timestamp timestamp ->
                timestamp(json, timestamp.stage().name(), timestamp.nanos());
            case TraceEvent.Activity activity -> timestamp(json, activity.name(), activity.nanos());
            case TraceEvent.TensorData tensor -> {
                json.name("activity").value(tensor.activity()).name("tensor").beginObject();
                json.name("name").value(tensor.spec().name());
                // The text of a large tensor goes out piece by piece; the writer of JSON keeps nothing back, so that it
                // may.
                json.name("data").jsonValue("\"");
                TensorText.write(tensor.spec().datatype(), tensor.bytes(), out);
                out.write('"');
                json.name("shape").value(TensorText.shape(tensor.spec()));
                json.name("dtype").value(tensor.spec().datatype().wireName());
                json.endObject();
            }
        }
        json.endObject();
    }

    private static void timestamp(JsonWriter json, String name, long nanos) throws IOException {
        json.name("timestamps").beginArray().beginObject();
        json.name("name").value(name);
        json.name("ns").value(nanos);
        json.endObject().endArray();
    }

    /** Tensors as traces tell them. */
    static final class TensorText {
        private TensorText() {}

        static String shape(TensorSpec spec) {
            return LongStream.of(spec.shape().toArray())
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(","));
        }

        /** Writes elements with commas, within a JSON string; BYTES quoted, as Triton does, until an incomplete one. */
        static void write(Datatype datatype, MemorySegment bytes, Writer out) throws IOException {
            if (datatype == Datatype.BYTES) {
                writeTexts(bytes, out);
                return;
            }
            int size = datatype.byteSize();
            for (long at = 0; at <= bytes.byteSize() - size; at += size) {
                if (at > 0) {
                    out.append(',');
                }
                out.append(element(datatype, bytes, at));
            }
        }

        private static void writeTexts(MemorySegment bytes, Writer out) throws IOException {
            for (long at = 0; at <= bytes.byteSize() - BytesCodec.LENGTH_BYTES; ) {
                long length = Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, at));
                long begin = at + BytesCodec.LENGTH_BYTES;
                if (length > bytes.byteSize() - begin) {
                    return;
                }
                byte[] element = bytes.asSlice(begin, length).toArray(ValueLayout.JAVA_BYTE);
                String quoted = new JsonPrimitive(new String(element, StandardCharsets.UTF_8)).toString();
                out.append(at == 0 ? "\\\"" : ",\\\"");
                out.append(quoted, 1, quoted.length() - 1).append("\\\"");
                at = begin + length;
            }
        }

        private static String element(Datatype datatype, MemorySegment bytes, long at) {
            return datatype == Datatype.BOOL
                    ? Byte.toString(bytes.get(ValueLayout.JAVA_BYTE, at))
                    : ElementValues.text(datatype, bytes, at);
        }
    }
}
