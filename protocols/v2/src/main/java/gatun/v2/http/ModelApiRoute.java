// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.InferenceService;
import gatun.wire.inference.ModelInput;
import java.util.List;
import java.util.regex.Pattern;

/** A model's inference in <a href="https://spec.openapis.org/oas/v3.0.3">OpenAPI 3.0</a>. Thread-safe. */
final class ModelApiRoute {
    /** Names that can stand in a path of a description; others stand in a parameter. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._~-]+");

    private final InferenceService server;

    ModelApiRoute(InferenceService server) {
        this.server = server;
    }

    void answer(Exchange exchange, String name, String version) {
        ModelVersion model = server.model(name, version);
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        json.raw("{\"openapi\":\"3.0.3\",\"info\":{\"title\":").string(model.name());
        json.raw(",\"version\":").string(model.versionText());
        json.raw("},\"paths\":{");
        writePath(json, name, version);
        json.raw("},\"components\":{\"schemas\":{");
        writeRequest(json, model);
        writeResponse(json, model.outputs().size());
        writeTensors(json, "Input", model.inputs());
        writeTensors(json, "Output", model.outputs());
        json.raw("\"Failure\":{\"type\":\"object\",\"required\":[\"error\"],\"properties\":")
                .raw("{\"error\":{\"type\":\"string\"}}}}}}");
        JsonResponse.send(exchange, json);
    }

    private static void writePath(JsonWriter json, String name, String version) {
        boolean plain = PLAIN.matcher(name).matches();
        String versions = version.isEmpty() ? "" : "/versions/" + version;
        json.string("/v2/models/" + (plain ? name : "{model}") + versions + "/infer");
        json.raw(":{");
        if (!plain) {
            json.raw("\"parameters\":[{\"name\":\"model\",\"in\":\"path\",\"required\":true,\"schema\":")
                    .raw("{\"type\":\"string\",\"enum\":[")
                    .string(name);
            json.raw("]}}],");
        }
        json.raw("\"post\":{\"operationId\":\"infer\",\"tags\":[\"inference\"],\"summary\":\"Infers\",")
                .raw("\"requestBody\":{\"required\":true,\"content\":")
                .raw("{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/InferRequest\"}}}},")
                .raw("\"responses\":{\"200\":{\"description\":\"The outputs\",\"content\":")
                .raw("{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/InferResponse\"}}}},")
                .raw("\"default\":{\"description\":\"Why there are none\",\"content\":")
                .raw("{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Failure\"}}}}}}}");
    }

    private static void writeRequest(JsonWriter json, ModelVersion model) {
        long required = model.config().getInputList().stream()
                .filter(input -> !input.getOptional())
                .map(ModelInput::getName)
                .filter(name ->
                        model.inputs().stream().anyMatch(spec -> spec.name().equals(name)))
                .count();
        json.raw("\"InferRequest\":{\"type\":\"object\",\"required\":[\"inputs\"],\"properties\":{")
                .raw("\"id\":{\"type\":\"string\"},\"parameters\":{\"type\":\"object\"},\"inputs\":");
        writeChoice(json, "Input", required, model.inputs().size());
        json.raw(",\"outputs\":{\"type\":\"array\",\"description\":\"The outputs that are wanted; all by default\",")
                .raw(
                        "\"items\":{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\"");
        writeNames(json, model.outputs());
        json.raw("}}}}}},");
    }

    private static void writeNames(JsonWriter json, List<TensorSpec> specs) {
        for (int i = 0; i < specs.size(); i++) {
            json.raw(i == 0 ? ",\"enum\":[" : ",").string(specs.get(i).name());
        }
        json.raw(specs.isEmpty() ? "" : "]");
    }

    private static void writeResponse(JsonWriter json, int outputs) {
        json.raw("\"InferResponse\":{\"type\":\"object\",\"required\":[\"model_name\",\"model_version\",\"outputs\"],")
                .raw("\"properties\":{\"id\":{\"type\":\"string\"},\"model_name\":{\"type\":\"string\"},")
                .raw("\"model_version\":{\"type\":\"string\"},\"parameters\":{\"type\":\"object\"},\"outputs\":");
        writeChoice(json, "Output", 0, outputs);
        json.raw("}},");
    }

    /** An array of tensors, each of one of the kinds that are numbered from 0. */
    private static void writeChoice(JsonWriter json, String kind, long least, int count) {
        json.raw("{\"type\":\"array\",\"minItems\":").signed(least);
        json.raw(",\"maxItems\":").signed(count);
        json.raw(",\"items\":{");
        for (int i = 0; i < count; i++) {
            json.raw(i == 0 ? "\"oneOf\":[" : ",");
            json.raw("{\"$ref\":\"#/components/schemas/").raw(kind).signed(i);
            json.raw("\"}");
        }
        json.raw(count == 0 ? "}}" : "]}}");
    }

    private static void writeTensors(JsonWriter json, String kind, List<TensorSpec> specs) {
        for (int i = 0; i < specs.size(); i++) {
            TensorSpec spec = specs.get(i);
            json.raw('"').raw(kind).signed(i);
            json.raw("\":{\"type\":\"object\",\"required\":[\"name\",\"datatype\",\"shape\",\"data\"],")
                    .raw("\"properties\":{\"name\":{\"type\":\"string\",\"enum\":[")
                    .string(spec.name());
            json.raw("]},\"datatype\":{\"type\":\"string\",\"enum\":[\"")
                    .raw(spec.datatype().wireName())
                    .raw("\"]},\"shape\":");
            writeShape(json, spec.shape());
            json.raw(",\"parameters\":{\"type\":\"object\"},\"data\":{\"type\":\"array\",")
                    .raw(
                            "\"description\":\"The elements, row after row; may also be nested as the shape is\",\"items\":")
                    .raw(element(spec.datatype()));
            json.raw("}}},");
        }
    }

    private static void writeShape(JsonWriter json, Shape shape) {
        json.raw("{\"type\":\"array\",\"description\":\"");
        for (int i = 0; i < shape.rank(); i++) {
            json.raw(i == 0 ? "[" : ",").signed(shape.dim(i));
        }
        json.raw(shape.rank() == 0 ? "[]" : "]")
                .raw("; -1 is any number\",\"minItems\":")
                .signed(shape.rank());
        json.raw(",\"maxItems\":").signed(shape.rank());
        json.raw(",\"items\":{\"type\":\"integer\",\"format\":\"int64\"}}");
    }

    private static String element(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> "{\"type\":\"boolean\"}";
            case UINT8, UINT16, INT8, INT16, INT32, INT4, UINT4, QINT8, QUINT8, QINT16, QUINT16, QINT32 ->
                "{\"type\":\"integer\",\"format\":\"int32\"}";
            case UINT32, INT64 -> "{\"type\":\"integer\",\"format\":\"int64\"}";
            case UINT64 -> "{\"type\":\"integer\"}";
            case FP16, BF16, FP32, FP8_E5M2, FP8_E4M3FN -> "{\"type\":\"number\",\"format\":\"float\"}";
            case FP64 -> "{\"type\":\"number\",\"format\":\"double\"}";
            case BYTES -> "{\"type\":\"string\"}";
            case COMPLEX64, COMPLEX128, INVALID -> "{}";
        };
    }
}
