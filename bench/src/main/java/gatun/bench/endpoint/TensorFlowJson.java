// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import gatun.bench.data.Elements;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Base64;
import java.util.List;

/** Requests of TensorFlow Serving's REST: inputs by columns, nested as their shapes say, strings as base64. */
final class TensorFlowJson {
    private static final JsonFactory FACTORY = new JsonFactory();

    private TensorFlowJson() {}

    /**
     * The body of a request.
     *
     * @throws TargetException when JSON has no form for an input
     */
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
            byte[] string =
                    bytes.asSlice(offset + BytesCodec.LENGTH_BYTES, byteSize).toArray(ValueLayout.JAVA_BYTE);
            offset += BytesCodec.LENGTH_BYTES + byteSize;
            json.writeStartObject();
            json.writeStringField("b64", Base64.getEncoder().encodeToString(string));
            json.writeEndObject();
        }
    }
}
