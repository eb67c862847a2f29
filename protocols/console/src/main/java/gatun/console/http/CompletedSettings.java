// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/** Finds out what of a model's configuration was not written, and where it came from. */
final class CompletedSettings {
    /** More than anybody reads. */
    private static final int LIMIT = 200;

    private static final int TEXT_LIMIT = 500;

    private final List<Setting> settings = new ArrayList<>();

    private CompletedSettings() {}

    /**
     * A setting that was not written.
     *
     * @param path of the field, as the configuration's file would have it
     * @param value in protobuf's text format
     * @param why where it came from
     */
    record Setting(String path, String value, String why) {}

    /** What {@code completed} has that {@code written} does not. */
    static List<Setting> of(ModelConfig written, ModelConfig completed) {
        CompletedSettings found = new CompletedSettings();
        found.compare("", written, completed, "");
        return List.copyOf(found.settings);
    }

    /** @param why where the fields of this message came from; empty where each has a reason of its own */
    private void compare(String path, Message written, Message completed, String why) {
        completed.getAllFields().forEach((field, value) -> {
            Object before = written.getField(field);
            if (value.equals(before)) {
                return;
            }
            String place = path + field.getName();
            String reason = why.isEmpty() ? why(field) : why;
            if (field.isRepeated() && !field.isMapField() && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                compareLists(place, (List<?>) before, (List<?>) value, reason);
            } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                    && !field.isRepeated()
                    && written.hasField(field)) {
                compare(place + ".", (Message) before, (Message) value, reason);
            } else {
                add(place, print(field, value), reason);
            }
        });
    }

    private void compareLists(String place, List<?> written, List<?> completed, String why) {
        for (int i = 0; i < completed.size(); i++) {
            Message element = (Message) completed.get(i);
            if (i < written.size()) {
                compare(place + "[" + i + "].", (Message) written.get(i), element, why);
            } else {
                add(
                        place + "[" + i + "]",
                        "{ " + TextFormat.printer().emittingSingleLine(true).printToString(element) + " }",
                        why);
            }
        }
    }

    private void add(String path, String value, String why) {
        if (settings.size() < LIMIT) {
            settings.add(new Setting(
                    path, value.length() <= TEXT_LIMIT ? value : value.substring(0, TEXT_LIMIT) + "...", why));
        }
    }

    private static String print(FieldDescriptor field, Object value) {
        if (field.isRepeated() && !field.isMapField()) {
            List<String> elements = new ArrayList<>();
            for (Object element : (List<?>) value) {
                elements.add(element instanceof EnumValueDescriptor one ? one.getName() : String.valueOf(element));
            }
            return "[ " + String.join(", ", elements) + " ]";
        }
        if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE && !field.isRepeated()) {
            return "{ " + TextFormat.printer().emittingSingleLine(true).printToString((Message) value) + " }";
        }
        return value instanceof EnumValueDescriptor one ? one.getName() : String.valueOf(value);
    }

    private static String why(FieldDescriptor field) {
        return switch (field.getName()) {
            case "name" -> "the name of the model's folder";
            case "input", "output", "max_batch_size" -> "read from the model's file";
            case "backend", "platform", "default_model_filename" -> "told by the names of the model's files";
            case "dynamic_batching", "model_transaction_policy", "parameters" -> "told by the engine";
            default -> "the server's default";
        };
    }
}
