// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import com.google.protobuf.Descriptors;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Advice on what to write instead, where the text of the problem does not say it. */
final class Advice {
    private static final Pattern UNKNOWN_FIELD =
            Pattern.compile("unknown field '(?<field>\\w+)' in (?<message>[\\w.]+)");
    private static final Pattern UNKNOWN_VALUE =
            Pattern.compile("Enum type \"inference\\.(?<type>[\\w.]+)\" has no value named \"(?<value>\\w+)\"");

    /** Names that people know from elsewhere. */
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

    /**
     * Advice for a kind of problem.
     *
     * @param problem a part of its text
     * @param advice what to do
     */
    private record Answer(String problem, String advice) {}

    private static final List<Answer> ANSWERS = List.of(
            new Answer(
                    "at least one version must be available",
                    "add a folder named by the version's number, such as 1, that holds the model's file"),
            new Answer(
                    "must specify 'data_type'",
                    "write data_type: " + names(DataType.getDescriptor()) + ", without quotes"),
            new Answer(
                    "must specify 'dims'",
                    "write dims: [ ... ], without the batch dimension where max_batch_size is at least 1"),
            new Answer(
                    "dimension must be integer >= 1",
                    "write -1 for a dimension of any size; the batch dimension is not written, max_batch_size stands"
                            + " for it"),
            new Answer("directory name must equal model name", "rename the folder, or leave the line 'name' out"),
            new Answer(
                    "'max_batch_size' must be non-negative",
                    "write max_batch_size: 0 for a model that takes no batches"),
            new Answer(
                    "preferred size must be <= max batch size",
                    "raise max_batch_size, or write a smaller preferred_batch_size"),
            new Answer(
                    "preferred batch size must be <= max batch size",
                    "raise max_batch_size, or write a smaller preferred_batch_size"),
            new Answer(
                    "server does not support GPUs", "write kind: KIND_CPU, or KIND_AUTO for GPUs where there are any"),
            new Answer("but specifies one or more GPUs", "leave gpus out, or write kind: KIND_GPU"),
            new Answer(
                    "must specify 'platform' or 'backend'",
                    "write backend: \"onnxruntime\", \"tensorflow\" or the name of another backend"),
            new Answer(
                    "unexpected platform type",
                    "write platform: \"onnxruntime_onnx\" or \"tensorflow_savedmodel\", or backend: \"...\""),
            new Answer("unexpected 'platform' and 'backend' pair", "leave one of the two out"),
            new Answer(
                    "Could not determine backend for model",
                    "put the model's file, such as model.onnx, into each version's folder, or write backend: \"...\" in config.pbtxt"),
            new Answer("autofill failed for model", "write max_batch_size: 0, or leave it out"),
            new Answer("is given twice", "remove one of the two"),
            new Answer("multiple times", "remove one of the two, or bring both into one"),
            new Answer("cannot be overwritten", "remove one of the two, or bring both into one"));

    private Advice() {}

    /** Advice for {@code problem}; empty where its text says it, or there is none. */
    static String to(String problem) {
        Matcher field = UNKNOWN_FIELD.matcher(problem);
        if (field.find()) {
            return field(field.group("message"), field.group("field"));
        }
        Matcher value = UNKNOWN_VALUE.matcher(problem);
        if (value.find()) {
            return value(value.group("type"), value.group("value"));
        }
        return ANSWERS.stream()
                .filter(answer -> problem.contains(answer.problem))
                .map(Answer::advice)
                .findFirst()
                .orElse("");
    }

    private static String field(String message, String typed) {
        Optional<Descriptors.Descriptor> type = message(message);
        if (type.isEmpty()) {
            return "";
        }
        List<String> names =
                type.get().getFields().stream().map(FieldDescriptor::getName).toList();
        return NearestName.to(typed, names)
                .map(name -> "did you mean '" + name + "'?")
                .orElse("known fields are: " + String.join(", ", names));
    }

    private static String value(String type, String typed) {
        if (OTHER_NAMES.containsKey(typed)) {
            return "write " + OTHER_NAMES.get(typed);
        }
        Optional<Descriptors.EnumDescriptor> values = enumeration(type);
        if (values.isEmpty()) {
            return "";
        }
        List<String> names = values.get().getValues().stream()
                .map(EnumValueDescriptor::getName)
                .toList();
        return NearestName.to(typed, names)
                .map(name -> "did you mean " + name + "?")
                .orElse("write one of " + String.join(", ", names));
    }

    private static String names(Descriptors.EnumDescriptor type) {
        List<String> names = new ArrayList<>();
        for (EnumValueDescriptor value : type.getValues()) {
            if (value.getNumber() != 0) {
                names.add(value.getName());
            }
        }
        return String.join(", ", names.subList(0, names.size() - 1)) + " or " + names.getLast();
    }

    private static Optional<Descriptors.Descriptor> message(String path) {
        String[] names = path.split("\\.", -1);
        Descriptors.Descriptor type = file().findMessageTypeByName(names[0]);
        for (int i = 1; i < names.length && type != null; i++) {
            type = type.findNestedTypeByName(names[i]);
        }
        return Optional.ofNullable(type);
    }

    private static Optional<Descriptors.EnumDescriptor> enumeration(String path) {
        int dot = path.lastIndexOf('.');
        String name = path.substring(dot + 1);
        return dot < 0
                ? Optional.ofNullable(file().findEnumTypeByName(name))
                : message(path.substring(0, dot)).map(type -> type.findEnumTypeByName(name));
    }

    private static Descriptors.FileDescriptor file() {
        return ModelConfig.getDescriptor().getFile();
    }
}
