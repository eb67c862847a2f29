// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.util.Map;

/** Reads a configuration as JSON from a load request: unknown fields refused, enum values in any case. */
final class ConfigurationJson {
    /** The most members and elements: far more than any configuration has, and objects of some hundred bytes each. */
    private static final int MAX_VALUES = 250_000;

    /** The most objects and arrays in each other; the format itself needs ten. */
    private static final int MAX_DEPTH = 100;

    private ConfigurationJson() {}

    /** @throws GatunException INVALID_ARGUMENT with what is wrong with the text */
    static ModelConfig read(String text) {
        checkSize(text);
        ModelConfig.Builder config = ModelConfig.newBuilder();
        try {
            JsonElement json = JsonParser.parseString(text);
            if (!json.isJsonObject()) {
                throw GatunException.invalidArgument("the configuration is not a JSON object");
            }
            JsonFormat.parser().merge(knownCase(json.getAsJsonObject(), ModelConfig.getDescriptor()), config);
        } catch (JsonParseException e) {
            // The parser's own message begins with the name of the class of its cause.
            Throwable told = e.getCause() == null ? e : e.getCause();
            throw GatunException.invalidArgument("the configuration is not JSON: " + told.getMessage());
        } catch (InvalidProtocolBufferException e) {
            throw GatunException.invalidArgument("the configuration is not valid: " + e.getMessage());
        }
        return config.build();
    }

    /** Limits the text's values and depth before it is parsed: few megabytes may hold a million objects. */
    private static void checkSize(String text) {
        int values = 0;
        int depth = 0;
        boolean quoted = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quoted) {
                if (c == '\\') {
                    i++;
                } else if (c == '"') {
                    quoted = false;
                }
                continue;
            }
            switch (c) {
                case '"' -> quoted = true;
                case ',' -> values++;
                case '{', '[' -> {
                    values++;
                    depth++;
                }
                case '}', ']' -> depth--;
                default -> {}
            }
            if (values > MAX_VALUES) {
                throw GatunException.invalidArgument(
                        "the configuration has more than " + MAX_VALUES + " values, expected at most that");
            }
            if (depth > MAX_DEPTH) {
                throw GatunException.invalidArgument("the configuration has more than " + MAX_DEPTH
                        + " objects and arrays in each other, expected at most that");
            }
        }
    }

    /** The text of an object in which enum values are called as in the proto file. */
    private static String knownCase(JsonObject object, Descriptor message) {
        rename(object, message);
        return object.toString();
    }

    private static void rename(JsonObject object, Descriptor message) {
        for (Map.Entry<String, JsonElement> member : object.entrySet()) {
            FieldDescriptor field = message.findFieldByName(member.getKey());
            if (field == null) {
                continue; // protobuf's parser says what is wrong with it, or knows it by another name
            }
            JsonElement value = member.getValue();
            if (field.isMapField()) {
                FieldDescriptor mapped = field.getMessageType().findFieldByNumber(2);
                if (value.isJsonObject()) {
                    value.getAsJsonObject()
                            .entrySet()
                            .forEach(entry -> entry.setValue(renamed(entry.getValue(), mapped)));
                }
            } else if (value.isJsonArray()) {
                JsonArray elements = value.getAsJsonArray();
                for (int i = 0; i < elements.size(); i++) {
                    elements.set(i, renamed(elements.get(i), field));
                }
            } else {
                member.setValue(renamed(value, field));
            }
        }
    }

    private static JsonElement renamed(JsonElement value, FieldDescriptor field) {
        if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE && value.isJsonObject()) {
            rename(value.getAsJsonObject(), field.getMessageType());
        } else if (field.getJavaType() == FieldDescriptor.JavaType.ENUM
                && value.isJsonPrimitive()
                && value.getAsJsonPrimitive().isString()) {
            for (EnumValueDescriptor known : field.getEnumType().getValues()) {
                if (known.getName().equalsIgnoreCase(value.getAsString())) {
                    return new JsonPrimitive(known.getName());
                }
            }
        }
        return value;
    }
}
