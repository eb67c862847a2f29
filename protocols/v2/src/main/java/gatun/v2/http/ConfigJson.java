// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import gatun.http.json.JsonWriter;
import gatun.wire.inference.ModelConfig;
import java.util.Base64;
import java.util.List;

/**
 * A model's configuration as JSON: names as in the proto file, every scalar, list and map also where it is empty,
 * messages only where they are set. Unlike protobuf's own JSON, 64-bit integers are numbers, but for the fields that
 * clients know as strings.
 */
final class ConfigJson {
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
