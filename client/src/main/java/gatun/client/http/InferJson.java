// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonGenerator;
import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.memory.tensor.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;

/** Writes the JSON of a request. Stateless and safe for any thread. */
final class InferJson {
    private InferJson() {}

    /**
     * Writes all of it.
     *
     * @param binary whether tensors follow the JSON, and are to follow that of the response; otherwise they are part of
     *     it
     */
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
}
