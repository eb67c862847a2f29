// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.TextFormat;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ProtobufText;
import gatun.runtime.configuration.ConfigurationFile.ConfigurationSyntaxException.Mistake;
import gatun.runtime.configuration.ConfigurationText.Field;
import gatun.runtime.configuration.ConfigurationText.Position;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Reads {@code config.pbtxt}: a model's configuration in protobuf's text format. */
public final class ConfigurationFile {
    /** The name of the file in a model's directory. */
    public static final String NAME = "config.pbtxt";

    /** The folder in a model's directory that holds further configurations. */
    public static final String FOLDER = "configs";

    // As the C++ parser, which wrote the rules that people know: a field given twice is a mistake, not an override.
    private static final TextFormat.Parser PARSER = TextFormat.Parser.newBuilder()
            .setSingularOverwritePolicy(TextFormat.Parser.SingularOverwritePolicy.FORBID_SINGULAR_OVERWRITES)
            .build();

    /** How the parser begins to tell of a number that is none. */
    private static final String NO_INTEGER = "Couldn't parse integer: ";

    /** Names, in lower case, that the file has where somebody wrote or saved it under another. */
    private static final Set<String> MISNOMERS = Set.of(
            NAME,
            "config.pbtxt.txt",
            "config.pbtxt.pbtxt",
            "config.pbtext",
            "config.pbtx",
            "config.textproto",
            "config.txtpb");

    private ConfigurationFile() {}

    /** What to do with a misnamed or misplaced configuration in a model's directory; empty for none. */
    public static Optional<String> misplaced(Path modelDirectory) {
        try (Stream<Path> files = Files.walk(modelDirectory, 2)) {
            return files.map(modelDirectory::relativize)
                    .filter(ConfigurationFile::isMisplaced)
                    .sorted()
                    .map(file -> "'" + file + "' is not read; rename it to " + NAME
                            + ", in the model's own folder, where" + " its configuration is looked for")
                    .findFirst();
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty(); // Others report that.
        }
    }

    /** @param file below the model's directory */
    private static boolean isMisplaced(Path file) {
        String name = file.getFileName().toString();
        return MISNOMERS.contains(name.toLowerCase(Locale.ROOT))
                && (file.getNameCount() == 1
                        ? !name.equals(NAME)
                        : file.getName(0).toString().matches("[0-9]+"));
    }

    /**
     * Reads {@code file} without completing or checking it. Throws GatunException INVALID_ARGUMENT when it cannot be
     * read, {@link ConfigurationSyntaxException} when it is not text format.
     */
    public static ModelConfig read(Path file) {
        String fileName = String.valueOf(file.getFileName());
        try {
            return parse(ProtobufText.read(file), fileName);
        } catch (TextFormat.ParseException e) {
            throw new ConfigurationSyntaxException(fileName, List.of(mistake(e, "")));
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read " + fileName + ": " + IoFailure.reason(e));
        }
    }

    /** Loads the parser and what it makes of the fields that most configurations have, which takes longer than to parse. */
    static void prepare() {
        String tensor = " { name: 'T' data_type: TYPE_FP32 dims: [ 1 ] } ";
        parse("name: 'M' backend: 'B' platform: 'P' max_batch_size: 1 input" + tensor + "output" + tensor, "none");
    }

    /** Parses a configuration. Throws {@link ConfigurationSyntaxException} when it is not text format. */
    static ModelConfig parse(String text, String fileName) {
        ModelConfig.Builder config = ModelConfig.newBuilder();
        try {
            PARSER.merge(text, config);
        } catch (TextFormat.ParseException e) {
            List<Mistake> unknown = UnknownNames.in(text);
            throw new ConfigurationSyntaxException(fileName, unknown.isEmpty() ? List.of(mistake(e, text)) : unknown);
        }
        return config.build();
    }

    /** The failure of the parser, in one line and without the {@code line:column: } that its text starts with. */
    private static Mistake mistake(TextFormat.ParseException e, String file) {
        String text = String.valueOf(e.getMessage());
        String position = e.getLine() + ":" + e.getColumn() + ": ";
        String problem = text.startsWith(position) ? text.substring(position.length()) : text;
        String shown = problem.startsWith(NO_INTEGER) ? noInteger(word(file, e.getLine(), e.getColumn())) : problem;
        return new Mistake(new Position(e.getLine(), e.getColumn()), shown.replaceAll("\\s*\\n\\s*", " "), "");
    }

    /** In the words of the parser in C++. */
    private static String noInteger(String word) {
        return word.matches("[0-9]+") ? "Integer out of range (" + word + ")" : "Expected integer, got: " + word;
    }

    /** What stands at a position, up to the next blank or sign that ends a value. */
    private static String word(String file, int line, int column) {
        return file.lines()
                .skip(line - 1L)
                .findFirst()
                .map(whole -> whole.substring(Math.min(whole.length(), column - 1)))
                .map(rest -> rest.split("[\\s,;}\\]>]", 2)[0])
                .orElse("");
    }

    /** Finds all fields and enum values that {@code model_config.proto} does not know; protobuf stops at the first. */
    static final class UnknownNames {
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
            List<String> names = values.getValues().stream()
                    .map(EnumValueDescriptor::getName)
                    .toList();
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

    /** A configuration that cannot be read. The message is that of the first mistake. */
    public static final class ConfigurationSyntaxException extends GatunException {
        private static final long serialVersionUID = 1;

        /** A mistake, and the advice what to write instead; empty where the text says it. */
        public record Mistake(Position position, String text, String advice) {}

        private final transient List<Mistake> mistakes;

        /** @param mistakes at least one */
        ConfigurationSyntaxException(String fileName, List<Mistake> mistakes) {
            super(ErrorCode.INVALID_ARGUMENT, fileName + ":" + message(mistakes.getFirst()));
            this.mistakes = List.copyOf(mistakes);
        }

        private static String message(Mistake mistake) {
            return mistake.position().line() + ":" + mistake.position().column() + ": " + mistake.text();
        }

        /** All mistakes that were found, in the order of the file. */
        public List<Mistake> mistakes() {
            return mistakes;
        }
    }
}
