// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.runtime.configuration.ConfigurationSyntaxException.Mistake;
import gatun.runtime.configuration.ConfigurationText.Position;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

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

    private ConfigurationFile() {}

    /**
     * Reads {@code file} without completing or checking it.
     *
     * @throws GatunException INVALID_ARGUMENT when it cannot be read
     * @throws ConfigurationSyntaxException when it is not text format
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

    /** Loads the parser and what it makes of the fields that most configurations have, which takes longer than to parse. */
    static void prepare() {
        String tensor = " { name: 'T' data_type: TYPE_FP32 dims: [ 1 ] } ";
        parse("name: 'M' backend: 'B' platform: 'P' max_batch_size: 1 input" + tensor + "output" + tensor, "none");
    }

    /**
     * The configuration in a text.
     *
     * @param fileName what a failure calls it
     * @throws ConfigurationSyntaxException when it is not text format
     */
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
}
