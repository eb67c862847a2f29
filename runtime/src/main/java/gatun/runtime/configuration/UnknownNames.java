// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import gatun.runtime.configuration.ConfigurationSyntaxException.Mistake;
import gatun.runtime.configuration.ConfigurationText.Field;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Finds every field and every value of an enumeration in a configuration that {@code model_config.proto} does not know,
 * where protobuf's parser stops at the first and suggests nothing.
 */
final class UnknownNames {
    /** Datatypes and kinds as people know them from elsewhere. */
    private static final Map<String, String> OTHER_NAMES = Map.ofEntries(
            Map.entry("TYPE_FLOAT", "TYPE_FP32"),
            Map.entry("TYPE_FLOAT16", "TYPE_FP16"),
            Map.entry("TYPE_HALF", "TYPE_FP16"),
            Map.entry("TYPE_BFLOAT16", "TYPE_BF16"),
            Map.entry("TYPE_FLOAT32", "TYPE_FP32"),
            Map.entry("TYPE_FLOAT64", "TYPE_FP64"),
            Map.entry("TYPE_DOUBLE", "TYPE_FP64"),
            Map.entry("TYPE_INT", "TYPE_INT32"),
            Map.entry("TYPE_LONG", "TYPE_INT64"),
            Map.entry("TYPE_BYTES", "TYPE_STRING"),
            Map.entry("TYPE_BOOLEAN", "TYPE_BOOL"),
            Map.entry("KIND_CUDA", "KIND_GPU"));

    private final List<Mistake> mistakes = new ArrayList<>();

    private UnknownNames() {}

    /** The unknown names in {@code text}, in its order. */
    static List<Mistake> in(String text) {
        UnknownNames unknown = new UnknownNames();
        unknown.look(ConfigurationText.of(text).fields(), ModelConfig.getDescriptor());
        return unknown.mistakes;
    }

    private void look(List<Field> fields, Descriptor message) {
        for (Field field : fields) {
            FieldDescriptor known = message.findFieldByName(field.name());
            if (known == null) {
                String text = "unknown field '" + field.name() + "' in " + nameOf(message.getFullName());
                List<String> names = message.getFields().stream()
                        .map(FieldDescriptor::getName)
                        .toList();
                String advice = NearestName.to(field.name(), names)
                        .map(name -> "did you mean '" + name + "'?")
                        .orElse("known fields are: " + String.join(", ", names));
                mistakes.add(new Mistake(field.position(), text, advice));
            } else if (known.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                look(field.fields(), known.getMessageType());
            } else if (known.getJavaType() == FieldDescriptor.JavaType.ENUM) {
                look(field, known.getEnumType());
            }
        }
    }

    private void look(Field field, EnumDescriptor values) {
        String value = field.value();
        if (!value.matches("[A-Za-z_]\\w*") || values.findValueByName(value) != null) {
            return; // A number, or no value at all, of which the parser speaks.
        }
        String text = "Enum type \"" + values.getFullName() + "\" has no value named \"" + value + "\".";
        List<String> names =
                values.getValues().stream().map(EnumValueDescriptor::getName).toList();
        String advice = OTHER_NAMES.containsKey(value)
                ? "write " + OTHER_NAMES.get(value)
                : NearestName.to(value, names)
                        .map(name -> "did you mean " + name + "?")
                        .orElse("write one of " + String.join(", ", names));
        mistakes.add(new Mistake(field.valuePosition(), text, advice));
    }

    /** A message's name without its package. */
    private static String nameOf(String fullName) {
        return fullName.substring(fullName.indexOf('.') + 1);
    }
}
