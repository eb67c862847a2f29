// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.http.json.JsonKind;
import gatun.http.json.JsonNumber;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.ServerResources;
import gatun.tensorflow.serving.ExampleContext;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.ScoredClasses;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.http.RequestDocument.Member;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Classify and regress: from examples in JSON to the model's results. Safe for any thread. */
final class ExampleRoute {
    private final ServerResources server;
    private final Servables servables;
    private final RestBodies bodies;
    private final ModelCalls calls;
    private final boolean methodNames;
    private final @Nullable ServingMetrics metrics;

    ExampleRoute(
            ServerResources server,
            Servables servables,
            RestBodies bodies,
            ModelCalls calls,
            boolean methodNames,
            @Nullable ServingMetrics metrics) {
        this.server = server;
        this.servables = servables;
        this.bodies = bodies;
        this.calls = calls;
        this.methodNames = methodNames;
        this.metrics = metrics;
    }

    void answer(Exchange exchange, ServablePath path, ExampleMethod method, Api api) {
        Call call;
        try (RequestUsage usage = new RequestUsage(server.limits(), server.heap())) {
            call = read(exchange, path, method, usage);
        }
        if (metrics != null) {
            metrics.examples(path.model(), call.exampleCount());
        }
        calls.answer(
                exchange,
                call.request(),
                api,
                (json, outputs) ->
                        ExampleResponseJson.write(json, method, call.signature(), outputs, call.exampleCount()));
    }

    private record Call(InferenceRequest request, ExampleSignature signature, long exampleCount) {}

    private Call read(Exchange exchange, ServablePath path, ExampleMethod method, RequestUsage usage) {
        Landed body = bodies.land(exchange);
        try (Buffer buffer = body.buffer()) {
            RequestDocument document =
                    RequestDocument.forExamples(buffer.segment(), body.offset(), body.byteSize(), usage);
            try (ExamplesReader examples = new ExamplesReader(server.buffers(), document)) {
                Servable servable = path.servable(document.signatureName());
                ModelVersion model = servables.findSingleAnswering(servable);
                ExampleSignature signature = ExampleSignature.of(model, method, servable, methodNames);
                InferenceRequest request = calls.request(exchange, model, servable);
                try {
                    signature.ask(request, server.buffers(), examples.elements(), examples.count(), examples.release());
                } catch (Throwable t) {
                    ModelCalls.giveUp(request);
                    throw t;
                }
                return new Call(request, signature, examples.count());
            }
        }
    }

    /** Writes the results for examples. */
    static final class ExampleResponseJson {
        private static final String RESULTS = "results";

        private ExampleResponseJson() {}

        /** Writes the whole response. Throws INVALID_ARGUMENT when the outputs are not as they should be. */
        static void write(
                IndentedJson json,
                ExampleMethod method,
                ExampleSignature signature,
                List<OutputTensor> outputs,
                long examples) {
            switch (method) {
                case CLASSIFY -> writeClasses(json, signature.classes(outputs, examples), examples);
                case REGRESS -> writeValues(json, signature.values(outputs, examples), examples);
            }
        }

        private static void writeClasses(IndentedJson json, ScoredClasses classes, long examples) {
            MemorySegment labels = classes.labels();
            json.beginObject().name(RESULTS).beginArray().oneLineArrays(true);
            for (long i = 0; i < examples; i++) {
                json.beginArray();
                for (long k = 0; k < classes.classCount(); k++) {
                    long label = classes.nextLabel();
                    json.beginArray()
                            .string(labels, label + BytesCodec.LENGTH_BYTES, BytesCodec.elementByteSize(labels, label));
                    json.fp32(classes.nextScore()).endArray();
                }
                json.endArray();
            }
            json.oneLineArrays(false).endArray().endObject();
        }

        private static void writeValues(IndentedJson json, MemorySegment values, long examples) {
            json.beginObject().name(RESULTS).oneLineArrays(true).beginArray();
            for (long at = 0; at < examples * Float.BYTES; at += Float.BYTES) {
                json.fp32(values.get(ElementLayouts.FP32, at));
            }
            json.endArray().endObject();
        }
    }

    /** Reads a request's examples, each into one string of a tensor. For one request, not thread-safe. */
    static final class ExamplesReader implements AutoCloseable {
        private final ElementBuffer elements;
        private long count;

        /** Reads examples. Throws INVALID_ARGUMENT, or RESOURCE_EXHAUSTED when the context is too long for so many. */
        ExamplesReader(BufferPool pool, RequestDocument document) {
            this.elements = new ElementBuffer(pool);
            try {
                read(document);
            } catch (Throwable t) {
                close();
                throw t;
            }
        }

        private void read(RequestDocument document) {
            ExampleWriter writer = new ExampleWriter(document.values(), elements);
            Member context = document.context();
            long contextByteSize = 0;
            if (context.present()) {
                writer.write(document.reader(context.position()));
                contextByteSize = elements.byteSize();
            }
            Member examples = document.examples();
            if (!examples.present()) {
                throw document.failure("When method is classify, key 'examples' is expected and was not found");
            }
            if (examples.kind() != JsonKind.ARRAY) {
                throw document.failure("Expecting 'examples' value to be an list/array");
            }
            if (examples.elementCount() == 0) {
                throw document.failure("'examples' value is an empty array");
            }
            ExampleContext.requireCopies(contextByteSize, examples.elementCount());
            JsonReader json = document.reader(examples.position());
            json.enterArray("");
            while (json.nextElement()) {
                long element = elements.byteSize();
                elements.putInt(0);
                // Messages one behind the other are read as one.
                elements.putCopy(0, contextByteSize);
                writer.write(json);
                elements.setInt(element, Math.toIntExact(elements.byteSize() - element - BytesCodec.LENGTH_BYTES));
                count++;
            }
            elements.dropFirst(contextByteSize);
        }

        long count() {
            return count;
        }

        MemorySegment elements() {
            return elements.elements();
        }

        /** Gives the memory of the examples away, which the caller owns then. */
        Buffer release() {
            return elements.release();
        }

        @Override
        public void close() {
            elements.close();
        }
    }

    /** Writes examples as TensorFlow's {@code tf.Example} messages, straight from their JSON. For one thread. */
    static final class ExampleWriter {
        // Keys of fields that are length-delimited: the field's number and the wire type.
        private static final int FEATURES = 1 << 3 | 2;
        private static final int FEATURE_ENTRY = 1 << 3 | 2;
        private static final int ENTRY_KEY = 1 << 3 | 2;
        private static final int ENTRY_VALUE = 2 << 3 | 2;
        private static final int LIST_VALUES = 1 << 3 | 2;

        /** The type of a feature's values. */
        private enum ListKind {
            NONE("UNKNOWN", 0),
            BYTES("bytes", 1),
            FLOAT("float", 2),
            INT64("int64", 3);

            private final String text;
            private final int key;

            ListKind(String text, int field) {
                this.text = text;
                this.key = field << 3 | 2;
            }
        }

        private final ValueText values;
        private final ElementBuffer target;

        /** Where the current feature's name lies in the target; it becomes a text only in an error. */
        private long nameStart;

        private long nameLength;

        /** Writes to the end of {@code target}, and shows wrong values by {@code values}. */
        ExampleWriter(ValueText values, ElementBuffer target) {
            this.values = values;
            this.target = target;
        }

        /** Appends the message of the object at {@code json}. Throws INVALID_ARGUMENT when it is no example. */
        void write(JsonReader json) {
            if (json.peek() != JsonKind.OBJECT) {
                throw GatunException.invalidArgument(
                        "Example must be JSON object but got JSON " + values.kind(json.position()));
            }
            target.putByte(FEATURES);
            long features = target.beginMessage();
            json.enterObject("");
            while (json.nextMember()) {
                target.putByte(FEATURE_ENTRY);
                long entry = target.beginMessage();
                target.putByte(ENTRY_KEY);
                nameLength = json.nameByteSize();
                nameStart = target.putName(json);
                target.putByte(ENTRY_VALUE);
                long feature = target.beginMessage();
                writeFeature(json);
                target.endMessage(feature);
                target.endMessage(entry);
            }
            target.endMessage(features);
        }

        private void writeFeature(JsonReader json) {
            if (json.peek() != JsonKind.ARRAY) {
                Begun begun = begin(json);
                writeValue(json, begun.kind());
                end(begun);
                return;
            }
            json.enterArray("");
            if (!json.nextElement()) {
                return;
            }
            Begun begun = begin(json);
            do {
                writeValue(json, begun.kind());
            } while (json.nextElement());
            end(begun);
        }

        /** A list that has been begun, and in it the numbers, where they are numbers. */
        private record Begun(ListKind kind, long list, long numbers) {}

        private Begun begin(JsonReader json) {
            ListKind kind = kind(json);
            target.putByte(kind.key);
            long list = target.beginMessage();
            if (kind == ListKind.BYTES) {
                return new Begun(kind, list, 0);
            }
            target.putByte(LIST_VALUES);
            return new Begun(kind, list, target.beginMessage());
        }

        private void end(Begun begun) {
            if (begun.kind() != ListKind.BYTES) {
                target.endMessage(begun.numbers());
            }
            target.endMessage(begun.list());
        }

        private ListKind kind(JsonReader json) {
            return switch (json.peek()) {
                case STRING -> ListKind.BYTES;
                case BOOLEAN -> ListKind.INT64;
                case NUMBER -> {
                    long position = json.position();
                    JsonNumber number = json.readNumber("");
                    json.position(position);
                    yield number.fitsSigned64() || number.fitsUnsigned64() ? ListKind.INT64 : ListKind.FLOAT;
                }
                case OBJECT -> {
                    if (Base64Value.isOtherObject(json)) {
                        throw unexpected(json);
                    }
                    yield ListKind.BYTES;
                }
                case ARRAY, NULL -> throw unexpected(json);
            };
        }

        private void writeValue(JsonReader json, ListKind list) {
            if (kind(json) != list) {
                throw GatunException.invalidArgument(
                        "Unexpected element type in feature: " + name() + " expecting type: " + list.text);
            }
            switch (json.peek()) {
                case BOOLEAN -> target.putVarint(json.readBoolean("") ? 1 : 0);
                case NUMBER -> writeNumber(json.readNumber(""), list);
                case STRING -> {
                    target.putByte(LIST_VALUES);
                    target.putDelimited(json);
                }
                case OBJECT -> {
                    long string = Base64Value.find(json);
                    long end = json.position();
                    json.position(string);
                    target.putByte(LIST_VALUES);
                    target.putDelimitedBase64(json);
                    json.position(end);
                }
                case ARRAY, NULL -> throw unexpected(json);
            }
        }

        private void writeNumber(JsonNumber number, ListKind list) {
            if (list == ListKind.FLOAT) {
                target.putFloat(number.toFloat());
            } else if (number.fitsSigned64()) {
                target.putVarint(number.integerBits());
            } else {
                throw GatunException.invalidArgument(
                        "Feature: " + name() + " has uint64_t element. Only int64_t is supported.");
            }
        }

        private String name() {
            return target.text(nameStart, nameLength);
        }

        private GatunException unexpected(JsonReader json) {
            return GatunException.invalidArgument(
                    "Feature: " + name() + " has element with unexpected JSON type: " + values.kind(json.position()));
        }
    }
}
