// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.json.TensorDataWriter;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.spi.ParameterValue;
import io.helidon.http.HeaderNames;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Sends the response to an inference: JSON, then the bytes of the outputs that are wanted so, from where they lie. */
final class InferResponseBody {
    /** The head of a response with bytes behind its JSON, up to the length of that. */
    static final ResponseHeaders.Constant BINARY =
            ResponseHeaders.constant("Content-Type: application/octet-stream", "Inference-Header-Content-Length: ");

    private static final MemorySegment[] NO_TENSORS = {};

    private InferResponseBody() {}

    /**
     * Sends {@code response}, which the caller closes. JSON of any length goes through a window; its length, to be
     * announced before tensors, is found by writing it twice. {@code binary} is the head before bytes, {@code heap}
     * bounds compressed responses. Throws INVALID_ARGUMENT for an output without a form in JSON; nothing is sent then.
     */
    static void send(
            Exchange exchange,
            InferenceResponse response,
            OutputForms forms,
            ResponseHeaders.Constant binary,
            HeapBudget heap) {
        MemorySegment[] tensors = tensors(response.outputs(), forms);
        long tensorBytes = 0;
        for (MemorySegment tensor : tensors) {
            tensorBytes += tensor.byteSize();
        }
        Compression compression = exchange.hasHeader(HeaderNames.ACCEPT_ENCODING)
                ? Compression.accepted(
                        exchange.header(HeaderNames.ACCEPT_ENCODING).orElse(""))
                : Compression.IDENTITY;
        if (!compression.equals(Compression.IDENTITY)) {
            sendCompressed(exchange, compression, response, forms, tensors, tensorBytes, heap);
            return;
        }
        if (tensorBytes == 0) {
            JsonWriter json = exchange.json(JsonResponse.HEADERS);
            write(json, response, forms);
            exchange.answer(JsonResponse.HEADERS, json);
            return;
        }
        JsonWriter json = measured(exchange, response, forms);
        long jsonByteSize = json.total();
        ResponseHeaders headers = ResponseHeaders.with(binary, jsonByteSize);
        if (jsonByteSize > json.size()) {
            json = exchange.json(headers, jsonByteSize + tensorBytes);
            write(json, response, forms);
            requireSize(json, jsonByteSize);
        }
        exchange.answer(headers, json, tensors, tensors.length);
    }

    private static void sendCompressed(
            Exchange exchange,
            Compression compression,
            InferenceResponse response,
            OutputForms forms,
            MemorySegment[] tensors,
            long tensorBytes,
            HeapBudget heap) {
        long jsonByteSize = -1;
        if (tensorBytes > 0) {
            jsonByteSize = measured(exchange, response, forms).total();
        }
        ResponseHeaders headers = tensorBytes > 0 ? compression.binaryHeaders(jsonByteSize) : compression.jsonHeaders();
        Hold compressor = heap.reserve(Compression.COMPRESSOR_BYTE_SIZE);
        try (compressor) {
            JsonWriter compressed = exchange.window(headers);
            JsonWriter json = exchange.json();
            compression.compress(compressed, json, text -> write(text, response, forms), tensors);
            if (jsonByteSize >= 0) {
                requireSize(json, jsonByteSize);
            }
            exchange.answer(headers, compressed);
        }
    }

    /** Writes the JSON to find out its length; all of it is there where it fits a window. */
    private static JsonWriter measured(Exchange exchange, InferenceResponse response, OutputForms forms) {
        JsonWriter json = exchange.json().overflowTo(text -> {});
        write(json, response, forms);
        return json;
    }

    /** Requires the announced length: its header has been sent and cannot change. */
    private static void requireSize(JsonWriter json, long expected) {
        if (json.total() != expected) {
            throw new IllegalStateException(
                    "an output has changed while it was sent: " + expected + " bytes of JSON became " + json.total());
        }
    }

    /** The bytes that are sent as they are; checks that all others have a form in JSON. */
    private static MemorySegment[] tensors(List<OutputTensor> outputs, OutputForms forms) {
        MemorySegment[] tensors = NO_TENSORS;
        int count = 0;
        for (int i = 0; i < outputs.size(); i++) {
            OutputTensor output = outputs.get(i);
            if (output.inSharedMemory()) {
                continue;
            }
            if (!forms.isBinary(i)) {
                TensorDataWriter.requireForm(output.tensor().spec().datatype());
                continue;
            }
            if (count == 0) {
                tensors = new MemorySegment[outputs.size()];
            }
            tensors[count++] = output.tensor().bytes();
        }
        return count == tensors.length ? tensors : Arrays.copyOf(tensors, count);
    }

    private static void write(JsonWriter json, InferenceResponse response, OutputForms forms) {
        List<OutputTensor> outputs = response.outputs();
        json.raw('{');
        if (!response.id().isEmpty()) {
            json.raw("\"id\":").string(response.id()).raw(',');
        }
        json.raw("\"model_name\":").string(response.modelName());
        json.raw(",\"model_version\":").string(response.modelVersion());
        if (!response.parameters().isEmpty()) {
            json.raw(",\"parameters\":");
            writeParameters(json, response.parameters());
        }
        json.raw(",\"outputs\":[");
        for (int i = 0; i < outputs.size(); i++) {
            OutputTensor output = outputs.get(i);
            TensorSpec spec = output.tensor().spec();
            json.raw(i == 0 ? "{\"name\":" : ",{\"name\":").string(spec.name());
            json.raw(",\"datatype\":\"").raw(spec.datatype().wireName()).raw("\",\"shape\":");
            writeShape(json, spec.shape());
            if (output.inSharedMemory()) {
                // Nobody needs the bytes here, and to look at those on a GPU would copy them.
                json.raw('}');
                continue;
            }
            MemorySegment bytes = output.tensor().bytes();
            if (forms.isBinary(i)) {
                json.raw(",\"parameters\":{\"binary_data_size\":")
                        .signed(bytes.byteSize())
                        .raw('}');
            } else {
                json.raw(",\"data\":");
                TensorDataWriter.write(json, spec.datatype(), bytes);
            }
            json.raw('}');
        }
        json.raw("]}");
    }

    private static void writeParameters(JsonWriter json, Map<String, ParameterValue> parameters) {
        json.raw('{');
        boolean first = true;
        for (Map.Entry<String, ParameterValue> parameter : parameters.entrySet()) {
            if (!first) {
                json.raw(',');
            }
            first = false;
            json.string(parameter.getKey()).raw(':');
            writeParameter(json, parameter.getValue());
        }
        json.raw('}');
    }

    static void writeParameter(JsonWriter json, ParameterValue parameter) {
        switch (parameter) {
            case ParameterValue.Bool bool -> json.bool(bool.value());
            case ParameterValue.Int64 integer -> json.signed(integer.value());
            case ParameterValue.Uint64 integer -> json.unsigned(integer.value());
            case ParameterValue.Fp64 number -> json.fp64(number.value());
            case ParameterValue.Text text -> json.string(text.value());
        }
    }

    /** The form of each output: beside the JSON or in it. For one request at a time, not thread-safe. */
    static final class OutputForms {
        private static final int FEW = 4;

        private boolean[] binary = new boolean[FEW];
        private int listedCount;
        private boolean binaryByDefault;

        void clear() {
            if (binary.length > FEW) {
                binary = new boolean[FEW];
            }
            listedCount = 0;
            binaryByDefault = false;
        }

        /** Sets the form of outputs of a request that lists none. */
        void binaryByDefault(boolean enabled) {
            binaryByDefault = enabled;
        }

        /** Adds the form of the next output that the request lists. */
        void list(boolean asBinary) {
            if (listedCount == binary.length) {
                binary = Arrays.copyOf(binary, 2 * listedCount);
            }
            binary[listedCount++] = asBinary;
        }

        /** Whether output {@code index} of the response, in the order that was listed, is answered as bytes. */
        boolean isBinary(int index) {
            return index < listedCount ? binary[index] : listedCount == 0 && binaryByDefault;
        }
    }

    static void writeShape(JsonWriter json, Shape shape) {
        json.raw('[');
        for (int i = 0; i < shape.rank(); i++) {
            if (i > 0) {
                json.raw(',');
            }
            json.signed(shape.dim(i));
        }
        json.raw(']');
    }
}
