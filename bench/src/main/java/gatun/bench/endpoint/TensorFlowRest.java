// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import gatun.bench.data.DataException;
import gatun.bench.data.DataSet;
import gatun.bench.data.DataSet.Step;
import gatun.bench.data.Elements;
import gatun.bench.data.ExpectedOutputs;
import gatun.bench.data.JsonFile;
import gatun.bench.data.JsonFile.JsonValue;
import gatun.bench.data.ModelDescription;
import gatun.bench.data.TensorFileReader;
import gatun.bench.endpoint.TensorFlowTarget.TensorFlowDatatypes;
import gatun.bench.endpoint.TensorFlowTarget.TensorFlowModels;
import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.http.HttpExchanges;
import gatun.client.http.HttpResult;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A server of TensorFlow Serving's REST, with inputs and outputs by columns. Owns the connections. */
final class TensorFlowRest implements TensorFlowServer {
    private static final int OK = 200;
    private static final Map<String, String> JSON = Map.of("content-type", "application/json");

    private final ClientOptions options;
    private final HttpExchanges exchanges;
    private final String model;
    private final String signature;
    private final String path;

    TensorFlowRest(ClientOptions options, String model, String version, String signature) {
        this.options = options;
        this.exchanges = new HttpExchanges(options);
        this.model = model;
        this.signature = signature;
        this.path = options.server().path() + "/v1/models/"
                + URLEncoder.encode(model, StandardCharsets.UTF_8).replace("+", "%20")
                + (version.isEmpty() ? "" : "/versions/" + version);
    }

    @Override
    public ModelDescription describe() {
        HttpResult reply;
        try {
            reply = exchanges.exchange("GET", path + "/metadata", Map.of());
        } catch (ClientException e) {
            throw new TargetException("the server at " + options.server() + " cannot be asked: " + e.getMessage(), e);
        }
        if (reply.status() != OK) {
            throw TensorFlowModels.refused(options.server().url(), model, error(reply));
        }
        JsonFile metadata = parse(reply);
        JsonValue signatures = member(member(member(metadata.root(), "metadata"), "signature_def"), "signature_def");
        if (!(signatures instanceof JsonValue.Obj known)) {
            throw new TargetException("the server at " + options.server() + " described model '" + model
                    + "' without signatures: is it TensorFlow Serving?");
        }
        if (!known.members().containsKey(signature)) {
            throw TensorFlowModels.noSignature(model, signature, known.members().keySet());
        }
        JsonValue of = member(known, signature);
        return TensorFlowModels.describe(model, specs(member(of, "inputs")), specs(member(of, "outputs")));
    }

    @Override
    public List<Prediction> predictions(DataSet data) {
        List<TensorSpec> outputs = describe().outputs();
        List<Prediction> predictions = new ArrayList<>();
        for (int i = 0; i < data.size(); i++) {
            Step step = data.step(i);
            byte[] body = TensorFlowJson.request(signature, step.inputs()).getBytes(StandardCharsets.UTF_8);
            predictions.add(new RestPrediction(
                    MemorySegment.ofArray(body), step.expected(), outputs.size(), byteSize(outputs, step)));
        }
        return predictions;
    }

    @Override
    public void close() {
        exchanges.close();
    }

    /** Bytes of the outputs, as far as the signature tells their sizes; JSON itself has no sizes. */
    private static long byteSize(List<TensorSpec> outputs, Step step) {
        Shape first = step.inputs().getFirst().spec().shape();
        long byteSize = 0;
        for (TensorSpec output : outputs) {
            Shape shape = output.shape();
            if (shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE && first.rank() > 0) {
                shape = shape.withFirst(first.dim(0));
            }
            byteSize += Math.max(0, shape.byteSize(output.datatype()));
        }
        return byteSize;
    }

    private List<TensorSpec> specs(JsonValue tensors) {
        List<TensorSpec> specs = new ArrayList<>();
        if (tensors instanceof JsonValue.Obj object) {
            new TreeMap<>(object.members()).forEach((name, info) -> {
                String type = member(info, "dtype") instanceof JsonValue.Text text ? text.value() : "";
                specs.add(new TensorSpec(name, TensorFlowDatatypes.of(type), shape(name, info)));
            });
        }
        return specs;
    }

    private Shape shape(String name, JsonValue info) {
        List<Long> dims = new ArrayList<>();
        if (member(member(info, "tensor_shape"), "dim") instanceof JsonValue.Arr array) {
            for (JsonValue dim : array.elements()) {
                String size =
                        switch (member(dim, "size")) {
                            case JsonValue.Text text -> text.value();
                            case JsonValue.Num number -> number.text();
                            case JsonValue other ->
                                throw new TargetException("the server at " + options.server() + " described '" + name
                                        + "' of model '" + model + "' by a dimension that is no number");
                        };
                dims.add(Long.parseLong(size));
            }
        }
        return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
    }

    private JsonFile parse(HttpResult reply) {
        try {
            return JsonFile.parse("the answer of " + options.server(), new ByteArrayInputStream(reply.body()));
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot fail to be read", e);
        }
    }

    private static JsonValue member(JsonValue value, String name) {
        JsonValue found =
                value instanceof JsonValue.Obj object ? object.members().get(name) : null;
        return found == null ? new JsonValue.Null(value.line()) : found;
    }

    private String error(HttpResult reply) {
        String text = new String(reply.body(), StandardCharsets.UTF_8).strip();
        try {
            if (member(parse(reply).root(), "error") instanceof JsonValue.Text error) {
                text = error.value();
            }
        } catch (DataException e) {
            // Then it is shown as it came.
        }
        return "HTTP " + reply.status() + ": " + text;
    }

    /** One request, made again and again. */
    private final class RestPrediction implements Prediction {
        private final MemorySegment body;
        private final ExpectedOutputs expected;
        private final int outputCount;
        private final long outputByteSize;

        private RestPrediction(MemorySegment body, ExpectedOutputs expected, int outputCount, long outputByteSize) {
            this.body = body;
            this.expected = expected;
            this.outputCount = outputCount;
            this.outputByteSize = outputByteSize;
        }

        @Override
        public Response make() {
            HttpResult reply = exchanges.exchange("POST", path + ":predict", JSON, body);
            if (reply.status() != OK) {
                throw new TargetException(error(reply));
            }
            return new RestResponse(reply, this);
        }

        private String differences(HttpResult reply) {
            if (expected.isNothing()) {
                return "";
            }
            try (Arena arena = Arena.ofConfined()) {
                JsonFile response = parse(reply);
                JsonValue outputs = member(response.root(), "outputs");
                TensorFileReader reader = new TensorFileReader(response, false, 1, arena);
                List<Tensor> tensors = new ArrayList<>();
                for (Tensor wanted : expected.outputs()) {
                    // A single output has no name.
                    JsonValue value = outputCount == 1
                            ? outputs
                            : member(outputs, wanted.spec().name());
                    if (!(value instanceof JsonValue.Null)) {
                        tensors.add(reader.tensor(wanted.spec(), value));
                    }
                }
                return expected.differences(tensors);
            } catch (DataException e) {
                return String.valueOf(e.getMessage());
            }
        }
    }

    /** The response to a request. {@code reply} is the response as it came. {@code prediction} is the request. */
    private record RestResponse(HttpResult reply, RestPrediction prediction) implements Response {
        @Override
        public String differences() {
            return prediction.differences(reply);
        }

        @Override
        public long tensorByteSize() {
            return prediction.outputByteSize;
        }
    }

    /** Requests of TensorFlow Serving's REST: inputs by columns, nested as their shapes say, strings as base64. */
    static final class TensorFlowJson {
        private static final JsonFactory FACTORY = new JsonFactory();

        private TensorFlowJson() {}

        /** The body of a request. Throws {@link TargetException} when JSON has no form for an input. */
        static String request(String signature, List<Tensor> inputs) {
            StringWriter out = new StringWriter();
            try (JsonGenerator json = FACTORY.createGenerator(out)) {
                json.writeStartObject();
                json.writeStringField("signature_name", signature);
                json.writeObjectFieldStart("inputs");
                for (Tensor input : inputs) {
                    requireForm(input);
                    json.writeFieldName(input.spec().name());
                    new Nested(json, input).write();
                }
                json.writeEndObject();
                json.writeEndObject();
            } catch (IOException e) {
                throw new UncheckedIOException("a text that is written to memory cannot fail", e);
            }
            return out.toString();
        }

        private static void requireForm(Tensor input) {
            Datatype datatype = input.spec().datatype();
            if (datatype == Datatype.FP16 || datatype == Datatype.BF16 || datatype == Datatype.UINT16) {
                throw new TargetException("input '" + input.spec().name() + "' is of " + datatype
                        + ", which TensorFlow Serving's JSON has no form for: use grpc://");
            }
        }

        /** Writes one tensor. */
        private static final class Nested {
            private final JsonGenerator json;
            private final Tensor tensor;
            private final MemorySegment bytes;
            private long index;
            private long offset;

            private Nested(JsonGenerator json, Tensor tensor) {
                this.json = json;
                this.tensor = tensor;
                this.bytes = tensor.bytes();
            }

            private void write() throws IOException {
                write(0);
            }

            private void write(int dim) throws IOException {
                Shape shape = tensor.spec().shape();
                if (dim == shape.rank()) {
                    element();
                    return;
                }
                json.writeStartArray();
                for (long i = 0; i < shape.dim(dim); i++) {
                    write(dim + 1);
                }
                json.writeEndArray();
            }

            private void element() throws IOException {
                Datatype datatype = tensor.spec().datatype();
                if (datatype != Datatype.BYTES) {
                    json.writeRawValue(Elements.text(bytes, datatype, index++));
                    return;
                }
                long byteSize = BytesCodec.elementByteSize(bytes, offset);
                byte[] string = bytes.asSlice(offset + BytesCodec.LENGTH_BYTES, byteSize)
                        .toArray(ValueLayout.JAVA_BYTE);
                offset += BytesCodec.LENGTH_BYTES + byteSize;
                json.writeStartObject();
                json.writeStringField("b64", Base64.getEncoder().encodeToString(string));
                json.writeEndObject();
            }
        }
    }
}
