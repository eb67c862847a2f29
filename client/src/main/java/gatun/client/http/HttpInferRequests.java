// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonGenerator;
import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.http.ControlCalls.Paths;
import gatun.client.http.OutgoingRequest.PlainRequest;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** Encodes inference requests by the options of a client. Immutable. */
final class HttpInferRequests {
    private static final String JSON_LENGTH = "Inference-Header-Content-Length";
    private static final String CONTENT_TYPE = "Content-Type";
    private static final String CONTENT_ENCODING = "Content-Encoding";
    private static final String BYTES_TYPE = "application/octet-stream";
    private static final String JSON_TYPE = "application/json";
    private static final int FIRST_BYTES = 4096;
    private static final int PIECE_BYTES = 64 << 10;

    private final RequestHeads heads;
    private final boolean binary;
    private final Compression compression;
    /** Created once, so that calls allocate none. */
    private final Predicate<EncodedInfer> isMine;

    private final Function<InferRequest, EncodedInfer> encode;

    HttpInferRequests(ClientOptions options, RequestHeads heads) {
        this.heads = heads;
        this.binary = options.binaryTensors();
        this.compression = options.compression();
        this.isMine = this::isMine;
        this.encode = this::encode;
    }

    /** Whether nothing but tensors is written by each call, as {@link #encoded} has it; otherwise {@link #body} is. */
    boolean areEncodedOnce() {
        return binary && compression == Compression.NONE;
    }

    /** The request with all but its tensors' bytes put together, now or by a call before. */
    EncodedInfer encoded(InferRequest request) {
        return request.encoded(EncodedInfer.class, isMine, encode);
    }

    /** The whole body, compressed where wanted. The caller closes it after the last {@link #around}. */
    GrowingBuffer body(InferRequest request) {
        GrowingBuffer body = new GrowingBuffer(FIRST_BYTES);
        try (OutputStream target = BodyCompression.compressing(compression, body)) {
            if (binary) {
                target.write(json(request));
                for (Tensor tensor : sent(request)) {
                    write(tensor.bytes(), target);
                }
            } else {
                InferJson.write(request, false, target);
            }
        } catch (IOException e) {
            body.close();
            throw new UncheckedIOException("memory cannot be written", e);
        } catch (Throwable t) {
            body.close();
            throw t;
        }
        return body;
    }

    OutgoingRequest around(InferRequest request, GrowingBuffer body) {
        Map<String, String> headers = binary
                ? Map.of(CONTENT_TYPE, BYTES_TYPE, JSON_LENGTH, Integer.toString(json(request).length))
                : Map.of(CONTENT_TYPE, JSON_TYPE);
        if (compression != Compression.NONE) {
            headers = new HashMap<>(headers);
            headers.put(CONTENT_ENCODING, compression == Compression.GZIP ? "gzip" : "deflate");
        }
        String path = path(request);
        return new PlainRequest(
                "POST " + path,
                !request.isOfSequence(),
                heads.of("POST", path, headers, body.byteSize()),
                List.of(body.bytes()));
    }

    @SuppressWarnings("ReferenceEquality") // one client's is no other's
    private boolean isMine(EncodedInfer encoded) {
        return encoded.owner() == this;
    }

    private EncodedInfer encode(InferRequest request) {
        byte[] json = json(request);
        List<Tensor> tensors = sent(request);
        long byteSize = json.length;
        for (Tensor tensor : tensors) {
            byteSize += tensor.byteSize();
        }
        String path = path(request);
        MemorySegment head = heads.of(
                "POST", path, Map.of(CONTENT_TYPE, BYTES_TYPE, JSON_LENGTH, Integer.toString(json.length)), byteSize);
        MemorySegment both = MemorySegment.ofArray(new byte[Math.toIntExact(head.byteSize() + json.length)]);
        MemorySegment.copy(head, 0, both, 0, head.byteSize());
        MemorySegment.copy(MemorySegment.ofArray(json), 0, both, head.byteSize(), json.length);
        return new EncodedInfer(this, "POST " + path, !request.isOfSequence(), both, tensors.toArray(Tensor[]::new));
    }

    private static byte[] json(InferRequest request) {
        ByteArrayOutputStream json = new ByteArrayOutputStream(512);
        try {
            InferJson.write(request, true, json);
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot be written", e);
        }
        return json.toByteArray();
    }

    private static List<Tensor> sent(InferRequest request) {
        List<Tensor> tensors = new ArrayList<>(request.inputs().size());
        for (InferInput input : request.inputs()) {
            if (input instanceof InferInput.Sent sent) {
                tensors.add(sent.tensor());
            }
        }
        return tensors;
    }

    private static void write(MemorySegment bytes, OutputStream target) throws IOException {
        byte[] piece = new byte[(int) Math.min(PIECE_BYTES, bytes.byteSize())];
        for (long at = 0; at < bytes.byteSize(); at += piece.length) {
            int count = (int) Math.min(piece.length, bytes.byteSize() - at);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, piece, 0, count);
            target.write(piece, 0, count);
        }
    }

    private static String path(InferRequest request) {
        return Paths.model(request.model(), request.version()) + "/infer";
    }

    /** An encoded inference request but for its tensors, which it borrows and reads for each call. Thread-safe. */
    static final class EncodedInfer implements OutgoingRequest {
        private final HttpInferRequests owner;
        private final String what;
        private final boolean repeatable;
        private final MemorySegment head;
        private final Tensor[] tensors;

        /** {@code head} reaches from the request line to the end of the JSON. */
        EncodedInfer(HttpInferRequests owner, String what, boolean repeatable, MemorySegment head, Tensor[] tensors) {
            this.owner = owner;
            this.what = what;
            this.repeatable = repeatable;
            this.head = head;
            this.tensors = tensors;
        }

        HttpInferRequests owner() {
            return owner;
        }

        @Override
        public String what() {
            return what;
        }

        @Override
        public boolean isRepeatable() {
            return repeatable;
        }

        @Override
        public void writeTo(RequestWriter writer) throws IOException {
            writer.put(head);
            for (Tensor tensor : tensors) {
                try {
                    writer.put(tensor.bytes());
                } catch (IllegalStateException e) {
                    throw new IllegalStateException(
                            "the memory of tensor '" + tensor.spec().name() + "' was freed while " + what
                                    + " was sent: keep its arena open until the call has returned",
                            e);
                }
            }
        }
    }

    /** Writes the JSON of a request. Stateless and safe for any thread. */
    static final class InferJson {
        private InferJson() {}

        /** Writes all. {@code binary} says whether tensors follow the JSON, here and in the response. */
        static void write(InferRequest request, boolean binary, OutputStream target) throws IOException {
            try (JsonGenerator json = Json.generator(target)) {
                json.writeStartObject();
                if (!request.id().isEmpty()) {
                    json.writeStringField("id", request.id());
                }
                parameters(json, request, binary && request.outputs().isEmpty());
                json.writeArrayFieldStart("inputs");
                for (InferInput input : request.inputs()) {
                    input(json, input, binary);
                }
                json.writeEndArray();
                if (!request.outputs().isEmpty()) {
                    json.writeArrayFieldStart("outputs");
                    for (InferOutput output : request.outputs()) {
                        output(json, output, binary);
                    }
                    json.writeEndArray();
                }
                json.writeEndObject();
            }
        }

        private static void parameters(JsonGenerator json, InferRequest request, boolean allBinary) throws IOException {
            if (request.parameters().isEmpty() && !allBinary) {
                return;
            }
            json.writeObjectFieldStart("parameters");
            for (Map.Entry<String, Object> parameter : request.parameters().entrySet()) {
                json.writeFieldName(parameter.getKey());
                switch (parameter.getValue()) {
                    case Boolean truth -> json.writeBoolean(truth);
                    case Long number -> json.writeNumber(number);
                    case Double number -> json.writeNumber(number);
                    case String text -> json.writeString(text);
                    default -> throw new AssertionError(parameter);
                }
            }
            if (allBinary) {
                json.writeBooleanField("binary_data_output", true);
            }
            json.writeEndObject();
        }

        private static void input(JsonGenerator json, InferInput input, boolean binary) throws IOException {
            json.writeStartObject();
            json.writeStringField("name", input.spec().name());
            json.writeArrayFieldStart("shape");
            Shape shape = input.spec().shape();
            for (int i = 0; i < shape.rank(); i++) {
                json.writeNumber(shape.dim(i));
            }
            json.writeEndArray();
            json.writeStringField("datatype", input.spec().datatype().wireName());
            switch (input) {
                case InferInput.InRegion region -> {
                    json.writeObjectFieldStart("parameters");
                    region(json, region.region(), region.offset(), region.byteSize());
                    json.writeEndObject();
                }
                case InferInput.Sent sent -> {
                    if (binary) {
                        json.writeObjectFieldStart("parameters");
                        json.writeNumberField("binary_data_size", sent.tensor().byteSize());
                        json.writeEndObject();
                    } else {
                        json.writeFieldName("data");
                        JsonTensorWriter.write(json, sent.tensor());
                    }
                }
            }
            json.writeEndObject();
        }

        private static void output(JsonGenerator json, InferOutput output, boolean binary) throws IOException {
            json.writeStartObject();
            json.writeStringField("name", output.name());
            json.writeObjectFieldStart("parameters");
            switch (output) {
                case InferOutput.Sent sent -> json.writeBooleanField("binary_data", binary);
                case InferOutput.Classes classes -> {
                    json.writeNumberField("classification", classes.count());
                    json.writeBooleanField("binary_data", binary);
                }
                case InferOutput.InRegion region -> region(json, region.region(), region.offset(), region.byteSize());
            }
            json.writeEndObject();
            json.writeEndObject();
        }

        private static void region(JsonGenerator json, String region, long offset, long byteSize) throws IOException {
            json.writeStringField("shared_memory_region", region);
            if (offset != 0) {
                json.writeNumberField("shared_memory_offset", offset);
            }
            json.writeNumberField("shared_memory_byte_size", byteSize);
        }

        /** Writes the elements of tensors as JSON. Stateless and safe for any thread. */
        static final class JsonTensorWriter {
            private static final ValueLayout.OfShort INT16 =
                    ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
            private static final ValueLayout.OfInt INT32 =
                    ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
            private static final ValueLayout.OfLong INT64 =
                    ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
            private static final ValueLayout.OfFloat FP32 =
                    ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
            private static final ValueLayout.OfDouble FP64 =
                    ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

            private JsonTensorWriter() {}

            /** Writes a flat array. Throws {@link IllegalArgumentException} for a tensor without a form in JSON. */
            static void write(JsonGenerator json, Tensor tensor) throws IOException {
                json.writeStartArray();
                MemorySegment bytes = tensor.bytes();
                switch (tensor.spec().datatype()) {
                    case BYTES -> strings(json, tensor);
                    case BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64 -> {
                        int size = tensor.spec().datatype().byteSize();
                        for (long at = 0; at < bytes.byteSize(); at += size) {
                            element(json, tensor, bytes, at);
                        }
                    }
                    default ->
                        throw new IllegalArgumentException("tensor '"
                                + tensor.spec().name() + "' " + tensor.spec().datatype()
                                + " has no form in JSON: send binary tensors (withBinaryTensors(true))");
                }
                json.writeEndArray();
            }

            private static void element(JsonGenerator json, Tensor tensor, MemorySegment bytes, long at)
                    throws IOException {
                switch (tensor.spec().datatype()) {
                    case BOOL -> json.writeBoolean(bytes.get(ValueLayout.JAVA_BYTE, at) != 0);
                    case INT8 -> json.writeNumber((int) bytes.get(ValueLayout.JAVA_BYTE, at));
                    case UINT8 -> json.writeNumber(Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, at)));
                    case INT16 -> json.writeNumber((int) bytes.get(INT16, at));
                    case UINT16 -> json.writeNumber(Short.toUnsignedInt(bytes.get(INT16, at)));
                    case INT32 -> json.writeNumber(bytes.get(INT32, at));
                    case UINT32 -> json.writeNumber(Integer.toUnsignedLong(bytes.get(INT32, at)));
                    case INT64 -> json.writeNumber(bytes.get(INT64, at));
                    case UINT64 -> unsigned(json, bytes.get(INT64, at));
                    case FP32 -> json.writeNumber(bytes.get(FP32, at));
                    case FP64 -> json.writeNumber(bytes.get(FP64, at));
                    default -> throw new AssertionError(tensor.spec());
                }
            }

            private static void unsigned(JsonGenerator json, long value) throws IOException {
                if (value < 0) {
                    json.writeNumber(Long.toUnsignedString(value));
                } else {
                    json.writeNumber(value);
                }
            }

            private static void strings(JsonGenerator json, Tensor tensor) throws IOException {
                MemorySegment bytes = tensor.bytes();
                if (BytesCodec.check(bytes, tensor.spec().shape().elementCount())
                        != BytesCodec.Check.Complete.COMPLETE) {
                    throw new IllegalArgumentException(
                            "tensor '" + tensor.spec().name() + "' BYTES "
                                    + tensor.spec().shape()
                                    + ": expected " + tensor.spec().shape().elementCount()
                                    + " elements, each with its length in 4 bytes before it");
                }
                for (long at = 0; at < bytes.byteSize(); ) {
                    long size = BytesCodec.elementByteSize(bytes, at);
                    ByteBuffer element =
                            bytes.asSlice(at + BytesCodec.LENGTH_BYTES, size).asByteBuffer();
                    try {
                        json.writeString(StandardCharsets.UTF_8
                                .newDecoder()
                                .decode(element)
                                .toString());
                    } catch (CharacterCodingException e) {
                        throw new IllegalArgumentException(
                                "tensor '" + tensor.spec().name() + "' has an element at byte " + at
                                        + " that is no text in UTF-8, so that JSON has no form for it:"
                                        + " send binary tensors (withBinaryTensors(true))",
                                e);
                    }
                    at += BytesCodec.LENGTH_BYTES + size;
                }
            }
        }
    }
}
