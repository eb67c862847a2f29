// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    /** How the parser lists the fields that it does not know, of which the first is where it says the failure is. */
    private static final Pattern UNKNOWN_FIELD =
            Pattern.compile("\\d+:\\d+:\\tinference\\.(?<message>[\\w.]+)\\.(?<field>\\w+)");

    private ConfigurationFile() {}

    /**
     * Reads {@code file} without completing or checking it.
     *
     * @throws GatunException INVALID_ARGUMENT with file, line and column when it cannot be read or is not text format
     */
    public static ModelConfig read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (CharacterCodingException e) {
            throw GatunException.invalidArgument(file.getFileName() + " is not UTF-8 text");
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read " + file.getFileName() + ": " + e.getMessage());
        }
        return parse(text, String.valueOf(file.getFileName()));
    }

    /**
     * The configuration in a text.
     *
     * @param fileName its name in failures
     * @throws GatunException INVALID_ARGUMENT with line and column when it is not text format
     */
    static ModelConfig parse(String text, String fileName) {
        ModelConfig.Builder config = ModelConfig.newBuilder();
        try {
            PARSER.merge(text, config);
        } catch (TextFormat.ParseException e) {
            throw GatunException.invalidArgument(
                    fileName + ":" + e.getLine() + ":" + e.getColumn() + ": " + problem(e));
        }
        return config.build();
    }

    /** The parser's message, in one line and without the {@code line:column: } that it starts with. */
    private static String problem(TextFormat.ParseException e) {
        String text = String.valueOf(e.getMessage());
        Matcher unknown = UNKNOWN_FIELD.matcher(text);
        if (unknown.find()) {
            return "unknown field '" + unknown.group("field") + "' in " + unknown.group("message");
        }
        String position = e.getLine() + ":" + e.getColumn() + ": ";
        String problem = text.startsWith(position) ? text.substring(position.length()) : text;
        return problem.replaceAll("\\s*\\n\\s*", " ");
    }
}
