// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.math.BigInteger;

/** A model's configuration as JSON, as models get it: the proto file's names, and 64-bit integers as numbers. */
final class ConfigurationText {
    private ConfigurationText() {}

    /** The text of {@code config}: every scalar, list and map, messages only where they are set. */
    static String write(ModelConfig config) {
        try {
            String text = JsonFormat.printer()
                    .preservingProtoFieldNames()
                    .alwaysPrintFieldsWithNoPresence()
                    .omittingInsignificantWhitespace()
                    .print(config);
            JsonObject json = JsonParser.parseString(text).getAsJsonObject();
            numbers(json, ModelConfig.getDescriptor());
            return json.toString();
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a configuration cannot be written as JSON", e);
        }
    }

    /** Makes numbers of the strings that protobuf's JSON has for 64-bit integers. */
    private static void numbers(JsonObject json, Descriptor message) {
        for (FieldDescriptor field : message.getFields()) {
            JsonElement value = json.get(field.getName());
            if (value == null || (field.isMapField() && !isMessage(mapValue(field)))) {
                continue;
            }
            if (field.isMapField()) {
                value.getAsJsonObject()
                        .asMap()
                        .values()
                        .forEach(entry ->
                                numbers(entry.getAsJsonObject(), mapValue(field).getMessageType()));
            } else if (field.isRepeated()) {
                JsonArray items = value.getAsJsonArray();
                for (int i = 0; i < items.size(); i++) {
                    items.set(i, number(items.get(i), field));
                }
            } else {
                json.add(field.getName(), number(value, field));
            }
        }
    }

    private static FieldDescriptor mapValue(FieldDescriptor field) {
        return field.getMessageType().findFieldByName("value");
    }

    private static boolean isMessage(FieldDescriptor field) {
        return field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
    }

    private static JsonElement number(JsonElement value, FieldDescriptor field) {
        if (isMessage(field)) {
            numbers(value.getAsJsonObject(), field.getMessageType());
            return value;
        }
        // An unsigned one may be more than a long holds.
        return field.getJavaType() == FieldDescriptor.JavaType.LONG
                ? new JsonPrimitive(new BigInteger(value.getAsString()))
                : value;
    }

    /** Takes what models may complete from a text. Throws INVALID_ARGUMENT when that is no configuration. */
    static ModelConfig completed(ModelConfig config, String completed) {
        ModelConfig.Builder read = ModelConfig.newBuilder();
        try {
            JsonFormat.parser().ignoringUnknownFields().merge(completed, read);
        } catch (InvalidProtocolBufferException e) {
            throw GatunException.invalidArgument("auto_complete_config of model '" + config.getName()
                    + "' gives what is no configuration: " + e.getMessage());
        }
        ModelConfig.Builder result = config.toBuilder()
                .setMaxBatchSize(read.getMaxBatchSize())
                .clearInput()
                .addAllInput(read.getInputList())
                .clearOutput()
                .addAllOutput(read.getOutputList());
        if (read.hasDynamicBatching() && !config.hasDynamicBatching()) {
            result.setDynamicBatching(read.getDynamicBatching());
        }
        if (read.hasModelTransactionPolicy()) {
            result.setModelTransactionPolicy(read.getModelTransactionPolicy());
        }
        return result.build();
    }
}
