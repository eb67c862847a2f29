// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.InferenceServer;
import gatun.wire.inference.ModelConfig;
import io.helidon.http.Status;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Health, metadata and configuration. Safe for any thread. */
final class MetadataRoutes {
    private static final ResponseHeaders NOT_HEALTHY =
            ResponseHeaders.of(ResponseHeaders.constant(Status.BAD_REQUEST_400, "Content-Type: application/json"));

    private final InferenceServer server;
    private final boolean bodies;

    /** Those of {@code server}. {@code bodies} says whether health has a body. */
    MetadataRoutes(InferenceServer server, boolean bodies) {
        this.server = server;
        this.bodies = bodies;
    }

    void live(Exchange exchange) {
        answerHealth(exchange, "{\"live\":", server.live());
    }

    void ready(Exchange exchange) {
        answerHealth(exchange, "{\"ready\":", server.ready());
    }

    /** Triton's clients read the status, and KServe's the body. */
    private void answerHealth(Exchange exchange, String begin, boolean healthy) {
        if (!bodies) {
            exchange.answerEmpty(healthy ? Status.OK_200 : Status.BAD_REQUEST_400);
            return;
        }
        JsonWriter json = exchange.json().raw(begin).raw(healthy ? "true}" : "false}");
        exchange.answer(healthy ? JsonResponse.HEADERS : NOT_HEALTHY, json);
    }

    void server(Exchange exchange) {
        ServerMetadata metadata = server.metadata();
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        json.raw("{\"name\":").string(metadata.name());
        json.raw(",\"version\":").string(metadata.version());
        json.raw(",\"extensions\":");
        writeStrings(json, metadata.extensions());
        JsonResponse.send(exchange, json.raw('}'));
    }

    void model(Exchange exchange, String name, String version) {
        ModelVersion model = server.model(name, version);
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        json.raw("{\"name\":").string(model.name());
        json.raw(",\"versions\":");
        writeStrings(json, version.isEmpty() ? model.readyVersions() : List.of(model.versionText()));
        json.raw(",\"platform\":").string(model.platform());
        json.raw(",\"inputs\":");
        writeSpecs(json, model.inputs());
        json.raw(",\"outputs\":");
        writeSpecs(json, model.outputs());
        JsonResponse.send(exchange, json.raw('}'));
    }

    void modelReady(Exchange exchange, String name, String version) {
        Optional<String> reason = server.unreadiness(name, version);
        if (reason.isEmpty() && !bodies) {
            exchange.answerEmpty(Status.OK_200);
        } else if (reason.isEmpty()) {
            JsonWriter json = exchange.json(JsonResponse.HEADERS);
            JsonResponse.send(exchange, json.raw("{\"name\":").string(name).raw(",\"ready\":true}"));
        } else {
            exchange.answerFailure(Status.BAD_REQUEST_400, "Model version not ready: " + reason.get());
        }
    }

    void modelConfig(Exchange exchange, String name, String version) {
        ModelVersion model = server.model(name, version);
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        ConfigJson.write(json, model.config());
        JsonResponse.send(exchange, json);
    }

    private static void writeSpecs(JsonWriter json, List<TensorSpec> specs) {
        json.raw('[');
        for (int i = 0; i < specs.size(); i++) {
            TensorSpec spec = specs.get(i);
            json.raw(i == 0 ? "{\"name\":" : ",{\"name\":").string(spec.name());
            json.raw(",\"datatype\":\"").raw(spec.datatype().wireName()).raw("\",\"shape\":");
            InferResponseBody.writeShape(json, spec.shape());
            json.raw('}');
        }
        json.raw(']');
    }

    private static void writeStrings(JsonWriter json, List<String> texts) {
        json.raw('[');
        for (int i = 0; i < texts.size(); i++) {
            if (i > 0) {
                json.raw(',');
            }
            json.string(texts.get(i));
        }
        json.raw(']');
    }

    /**
     * A configuration as JSON: names of the proto file, all scalars, lists and maps even if empty, messages only if
     * set. Unlike in protobuf's own JSON, 64-bit integers are numbers, but for fields that clients know as strings.
     */
    static final class ConfigJson {
        /** 64-bit integers that are strings all the same. */
        private static final List<String> INTEGERS_AS_STRINGS = List.of(
                "inference.ModelOptimizationPolicy.Cuda.GraphSpec.Shape.dim",
                "inference.ModelInstanceGroup.SecondaryDevice.device_id");

        private ConfigJson() {}

        static void write(JsonWriter json, ModelConfig config) {
            writeMessage(json, config);
        }

        private static void writeMessage(JsonWriter json, Message message) {
            json.raw('{');
            boolean first = true;
            for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
                if (field.hasPresence() && !message.hasField(field)) {
                    continue;
                }
                if (!first) {
                    json.raw(',');
                }
                first = false;
                json.string(field.getName()).raw(':');
                Object value = message.getField(field);
                if (field.isMapField()) {
                    writeMap(json, field, (List<?>) value);
                } else if (field.isRepeated()) {
                    writeList(json, field, (List<?>) value);
                } else {
                    writeValue(json, field, value);
                }
            }
            json.raw('}');
        }

        private static void writeMap(JsonWriter json, FieldDescriptor field, List<?> entries) {
            FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
            FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
            json.raw('{');
            for (int i = 0; i < entries.size(); i++) {
                Message entry = (Message) entries.get(i);
                if (i > 0) {
                    json.raw(',');
                }
                json.string(String.valueOf(entry.getField(key))).raw(':');
                writeValue(json, value, entry.getField(value));
            }
            json.raw('}');
        }

        private static void writeList(JsonWriter json, FieldDescriptor field, List<?> values) {
            json.raw('[');
            for (int i = 0; i < values.size(); i++) {
                if (i > 0) {
                    json.raw(',');
                }
                writeValue(json, field, values.get(i));
            }
            json.raw(']');
        }

        private static void writeValue(JsonWriter json, FieldDescriptor field, Object value) {
            switch (field.getJavaType()) {
                case INT -> json.signed((int) value);
                case LONG -> writeLong(json, field, (long) value);
                case FLOAT -> json.raw(Float.toString((float) value));
                case DOUBLE -> json.fp64((double) value);
                case BOOLEAN -> json.bool((boolean) value);
                case STRING -> json.string((String) value);
                case BYTE_STRING -> json.string(Base64.getEncoder().encodeToString(((ByteString) value).toByteArray()));
                case ENUM -> json.string(((EnumValueDescriptor) value).getName());
                case MESSAGE -> writeMessage(json, (Message) value);
            }
        }

        private static void writeLong(JsonWriter json, FieldDescriptor field, long value) {
            boolean unsigned =
                    switch (field.getType()) {
                        case UINT64, FIXED64 -> true;
                        default -> false;
                    };
            if (INTEGERS_AS_STRINGS.contains(field.getFullName())) {
                json.string(unsigned ? Long.toUnsignedString(value) : Long.toString(value));
            } else if (unsigned) {
                json.unsigned(value);
            } else {
                json.signed(value);
            }
        }
    }
}
