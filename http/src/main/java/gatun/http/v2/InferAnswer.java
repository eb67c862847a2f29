package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.json.TensorDataWriter;
import gatun.memory.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.OutputTensor;
import gatun.runtime.ParameterValue;
import io.helidon.http.HeaderNames;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** Sends the answer to an inference: JSON, then the bytes of the outputs that are wanted so, from where they lie. */
final class InferAnswer {
    private static final ResponseHeaders.Constant BINARY =
            ResponseHeaders.constant("Content-Type: application/octet-stream", "Inference-Header-Content-Length: ");

    private static final MemorySegment[] NO_TENSORS = {};

    private InferAnswer() {}

    /** Sends {@code response}, which the caller closes afterwards. */
    static void send(Exchange exchange, InferenceResponse response, OutputForms forms) {
        List<OutputTensor> outputs = response.outputs();
        JsonWriter json = exchange.json();
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
        MemorySegment[] tensors = NO_TENSORS;
        int tensorCount = 0;
        long tensorBytes = 0;
        for (int i = 0; i < outputs.size(); i++) {
            OutputTensor output = outputs.get(i);
            TensorSpec spec = output.tensor().spec();
            json.raw(i == 0 ? "{\"name\":" : ",{\"name\":").string(spec.name());
            json.raw(",\"datatype\":\"").raw(spec.datatype().wireName()).raw("\",\"shape\":");
            MetadataRoutes.writeShape(json, spec.shape());
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
                if (tensorCount == 0) {
                    tensors = new MemorySegment[outputs.size()];
                }
                tensors[tensorCount++] = bytes;
                tensorBytes += bytes.byteSize();
            } else {
                json.raw(",\"data\":");
                TensorDataWriter.write(json, spec.datatype(), bytes);
            }
            json.raw('}');
        }
        json.raw("]}");
        send(exchange, json, tensors, tensorCount, tensorBytes);
    }

    private static void send(
            Exchange exchange, JsonWriter json, MemorySegment[] tensors, int tensorCount, long tensorBytes) {
        Compression compression = exchange.hasHeader(HeaderNames.ACCEPT_ENCODING)
                ? Compression.accepted(
                        exchange.header(HeaderNames.ACCEPT_ENCODING).orElse(""))
                : Compression.IDENTITY;
        ResponseHeaders headers;
        if (!compression.equals(Compression.IDENTITY)) {
            headers = tensorBytes > 0 ? compression.binaryHeaders(json.size()) : compression.jsonHeaders();
            MemorySegment[] compressed = {MemorySegment.ofArray(compression.compress(json, tensors, tensorCount))};
            exchange.answer(headers, exchange.json(), compressed, 1);
            return;
        }
        headers = tensorBytes > 0 ? ResponseHeaders.with(BINARY, json.size()) : JsonAnswer.HEADERS;
        exchange.answer(headers, json, tensors, tensorCount);
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

    /** Writes the value of a parameter. */
    static void writeParameter(JsonWriter json, ParameterValue parameter) {
        switch (parameter) {
            case ParameterValue.Bool bool -> json.bool(bool.value());
            case ParameterValue.Int64 integer -> json.signed(integer.value());
            case ParameterValue.Uint64 integer -> json.unsigned(integer.value());
            case ParameterValue.Fp64 number -> json.fp64(number.value());
            case ParameterValue.Text text -> json.string(text.value());
        }
    }
}
