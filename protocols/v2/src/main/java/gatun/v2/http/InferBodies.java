// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Decompression;
import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.ServerResources;
import gatun.spi.Setting;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Lands the bodies of inference requests so that their tensors are aligned. Safe for any thread. */
final class InferBodies {
    /** Tells where in a body the JSON ends. */
    static final HeaderName HEADER_LENGTH = HeaderNames.create("Inference-Header-Content-Length");

    /** The first tensor after the JSON begins at a multiple of this. */
    private static final int ALIGNMENT = 64;

    /** Stands for the JSON's length when the whole body is JSON. */
    private static final long ALL_JSON = -1;

    private final BufferPool buffers;
    private final long maxByteSize;
    private final Decompression decompression;
    private final JsonBody jsonBody;

    InferBodies(ServerResources server, long maxByteSize) {
        this.buffers = server.buffers();
        this.maxByteSize = maxByteSize;
        this.decompression = new Decompression(buffers, maxByteSize);
        this.jsonBody = new JsonBody(server, maxByteSize);
    }

    /** A body in native memory. For one request after the other, and one thread. */
    static final class Body {
        private @Nullable Buffer buffer;
        private long jsonOffset;
        private long jsonByteSize;
        private long binaryByteSize;
        private boolean raw;

        private void set(Buffer landed, long offset, long jsonBytes, long binaryBytes, boolean isRaw) {
            buffer = landed;
            jsonOffset = offset;
            jsonByteSize = jsonBytes;
            binaryByteSize = binaryBytes;
            raw = isRaw;
        }

        void clear() {
            buffer = null;
        }

        Buffer buffer() {
            return Objects.requireNonNull(buffer, "no body has landed");
        }

        MemorySegment segment() {
            return buffer().segment();
        }

        long jsonOffset() {
            return jsonOffset;
        }

        long jsonByteSize() {
            return jsonByteSize;
        }

        long binaryOffset() {
            return jsonOffset + jsonByteSize;
        }

        long binaryByteSize() {
            return binaryByteSize;
        }

        /** Whether there is no JSON, and the bytes are the model's only input. */
        boolean raw() {
            return raw;
        }
    }

    /**
     * Reads a request's body into {@code body}; its buffer is the caller's. Throws {@link GatunException} if refused.
     */
    void land(Exchange exchange, ModelVersion model, Body body) {
        boolean compressed = isCompressed(exchange);
        long announced = exchange.body().announcedByteSize();
        long headerLength = headerLength(exchange);
        boolean raw = headerLength == 0 || (headerLength == ALL_JSON && announced == 0);
        long jsonByteSize = Math.max(headerLength, 0);
        if (jsonByteSize > maxByteSize) {
            throw jsonBody.tooLong(jsonByteSize);
        }
        if (!compressed && announced != RequestBody.IN_CHUNKS && jsonByteSize > announced) {
            throw outOfRange(announced, jsonByteSize);
        }
        int landing = raw ? RawInput.landingOffset(model) : (int) (-jsonByteSize & (ALIGNMENT - 1));
        RequestBody.Landed landed = compressed
                ? decompressed(exchange, landing)
                : exchange.body().land(buffers, landing, byteLimit(raw, headerLength), refusal(raw));
        if (raw) {
            body.set(landed.buffer(), landing, 0, landed.byteSize(), true);
            return;
        }
        if (headerLength == ALL_JSON) {
            jsonByteSize = landed.byteSize();
        } else if (jsonByteSize > landed.byteSize()) {
            landed.buffer().close();
            throw outOfRange(landed.byteSize(), jsonByteSize);
        }
        body.set(landed.buffer(), landing, jsonByteSize, landed.byteSize() - jsonByteSize, false);
    }

    private RequestBody.Landed decompressed(Exchange exchange, int landing) {
        RequestBody.Landed landed = exchange.body().land(buffers, 0, maxByteSize, decompression::tooLong);
        try (Buffer compressed = landed.buffer()) {
            return decompression.inflate(compressed.segment().asSlice(landed.offset(), landed.byteSize()), landing);
        }
    }

    /** Tensors beside JSON are limited by the pool alone. */
    private long byteLimit(boolean raw, long headerLength) {
        return raw || headerLength == ALL_JSON ? maxByteSize : Long.MAX_VALUE;
    }

    private RequestBody.Refusal refusal(boolean raw) {
        return raw ? this::rawTooLong : jsonBody::tooLong;
    }

    private GatunException rawTooLong(long byteSize) {
        return GatunException.invalidArgument("Raw input has a byte_size (" + byteSize
                + " bytes) that exceeds the maximum allowed value of " + maxByteSize
                + " bytes. Use " + Setting.HTTP_MAX_INPUT_SIZE + " to increase the limit.");
    }

    private static long headerLength(Exchange exchange) {
        if (!exchange.hasHeader(HEADER_LENGTH)) {
            return ALL_JSON;
        }
        String text = exchange.header(HEADER_LENGTH).orElse("");
        long length;
        try {
            length = Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw GatunException.invalidArgument(
                    isInteger(text) ? outOfInt(text) : "Unable to parse Inference-Header-Content-Length, got: " + text);
        }
        if (length != (int) length) {
            throw GatunException.invalidArgument(outOfInt(text));
        }
        if (length < 0) {
            throw outOfRange(Math.max(0, exchange.body().announcedByteSize()), length);
        }
        return length;
    }

    private static boolean isInteger(String text) {
        int sign = text.startsWith("-") ? 1 : 0;
        return text.length() > sign && text.chars().skip(sign).allMatch(c -> c >= '0' && c <= '9');
    }

    private static String outOfInt(String text) {
        return "Unable to parse Inference-Header-Content-Length, value is out of range [ -2147483648, 2147483647 ],"
                + " got: "
                + text;
    }

    private static GatunException outOfRange(long bodyByteSize, long length) {
        return GatunException.invalidArgument(
                "inference header size should be in range (0, " + bodyByteSize + "), got: " + length);
    }

    private static boolean isCompressed(Exchange exchange) {
        if (!exchange.hasHeader(HeaderNames.CONTENT_ENCODING)) {
            return false;
        }
        String encoding =
                exchange.header(HeaderNames.CONTENT_ENCODING).orElse("").toLowerCase(Locale.ROOT);
        return switch (encoding) {
            case "gzip", "deflate" -> true;
            case "", "identity" -> false;
            default -> {
                exchange.header(HeaderNames.ACCEPT_ENCODING, "gzip, deflate");
                throw new GatunException(ErrorCode.UNSUPPORTED, "Unsupported compression type");
            }
        };
    }

    static boolean isAligned(Datatype datatype, MemorySegment bytes) {
        return !datatype.isFixedSize() || (bytes.address() & (datatype.byteSize() - 1)) == 0;
    }

    /** A body without JSON: all of it is the only input of a model, whose datatype and shape come from the model. */
    static final class RawInput {
        private RawInput() {}

        /** Where in its buffer such a body begins: after the length of a string that the client leaves out. */
        static int landingOffset(ModelVersion model) {
            List<TensorSpec> inputs = model.inputs();
            return inputs.size() == 1 && inputs.getFirst().datatype() == Datatype.BYTES ? BytesCodec.LENGTH_BYTES : 0;
        }

        /** Adds the input that {@code body} is, whose buffer the request holds. Throws if its shape is not known. */
        static void add(InferenceRequest request, InferBodies.Body body) {
            ModelVersion model = request.model();
            List<TensorSpec> inputs = model.inputs();
            if (inputs.size() != 1) {
                throw GatunException.invalidArgument(
                        "Raw request must only have 1 input (found 1) to be deduced but got " + inputs.size()
                                + " inputs in '" + model.name() + "' model configuration");
            }
            TensorSpec input = inputs.getFirst();
            boolean batching = model.config().getMaxBatchSize() > 0;
            if (input.datatype() == Datatype.BYTES) {
                addString(request, body, input, batching);
                return;
            }
            MemorySegment bytes = body.segment().asSlice(body.binaryOffset(), body.binaryByteSize());
            Shape shape = shape(input, batching, bytes.byteSize());
            request.addInput(new Tensor(new TensorSpec(input.name(), input.datatype(), shape), bytes));
        }

        private static void addString(
                InferenceRequest request, InferBodies.Body body, TensorSpec input, boolean batching) {
            long[] dims = input.shape().toArray();
            if (batching) {
                dims[0] = 1;
            }
            if (Arrays.stream(dims).anyMatch(dim -> dim != 1)) {
                throw GatunException.invalidArgument(
                        "For BYTE datatype raw input '" + input.name() + "', the model must have input shape [1]");
            }
            BytesCodec.putLength(body.segment(), 0, body.binaryByteSize());
            Shape shape = Shape.of(dims);
            MemorySegment bytes = body.segment().asSlice(0, body.binaryOffset() + body.binaryByteSize());
            request.addInput(new Tensor(new TensorSpec(input.name(), Datatype.BYTES, shape), bytes));
        }

        private static Shape shape(TensorSpec input, boolean batching, long byteSize) {
            long[] dims = input.shape().toArray();
            if (batching) {
                dims[0] = 1;
            }
            int variable = -1;
            long known = 1;
            for (int i = 0; i < dims.length; i++) {
                if (dims[i] != Shape.VARIABLE) {
                    known *= dims[i];
                } else if (variable < 0) {
                    variable = i;
                } else {
                    throw GatunException.invalidArgument("The shape of the raw input '" + input.name()
                            + "' can not be deduced because there are more than one variable-sized dimension");
                }
            }
            if (variable >= 0) {
                long unit = known * input.datatype().byteSize();
                // A body that does not divide evenly gets a shape of another size, for which it is refused later.
                dims[variable] = unit == 0 ? 0 : byteSize / unit;
            }
            return Shape.of(dims);
        }
    }
}
