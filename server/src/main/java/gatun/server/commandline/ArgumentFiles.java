// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Arguments from files: {@code @FILE} stands for the arguments in it, separated by white space; {@code @@} begins an
 * argument with {@code @}. In files, {@code #} begins a comment, single quotes keep everything as it is, double quotes
 * all but backslashes, a backslash the next character.
 */
final class ArgumentFiles {
    private static final char MARK = '@';

    /** More than any command line; a limit for devices without end. */
    private static final long BYTE_LIMIT = 1 << 20;

    private final Path file;
    private final String text;
    private final List<String> found = new ArrayList<>();
    private int at;
    private int line = 1;

    private ArgumentFiles(Path file, String text) {
        this.file = file;
        this.text = text;
    }

    /** Throws {@link ConfigurationFile.InvalidFileException} for an unreadable file, or a quote without an end. */
    static List<String> expand(List<String> arguments) {
        List<String> expanded = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.length() < 2 || argument.charAt(0) != MARK) {
                expanded.add(argument);
            } else if (argument.charAt(1) == MARK) {
                expanded.add(argument.substring(1));
            } else {
                expanded.addAll(read(argument.substring(1)));
            }
        }
        return expanded;
    }

    private static List<String> read(String name) {
        try {
            Path file = Path.of(name);
            if (Files.isRegularFile(file) && Files.size(file) > BYTE_LIMIT) {
                throw new ConfigurationFile.InvalidFileException(
                        MARK + name + " is longer than a file of arguments may be, which is " + BYTE_LIMIT + " bytes");
            }
            ArgumentFiles reader = new ArgumentFiles(file, Files.readString(file));
            reader.arguments();
            return reader.found;
        } catch (IOException | InvalidPathException e) {
            throw new ConfigurationFile.InvalidFileException(
                    MARK + name + ": the file of arguments cannot be read (" + IoFailure.reason(e) + "); write " + MARK
                            + MARK + name + " for an argument that begins with " + MARK,
                    e);
        }
    }

    private void arguments() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (Character.isWhitespace(c)) {
                pass(c);
            } else if (c == '#') {
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
            } else {
                found.add(argument());
            }
        }
    }

    private String argument() {
        StringBuilder argument = new StringBuilder();
        char quote = 0;
        int begin = line;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (quote == 0 && Character.isWhitespace(c)) {
                return argument.toString();
            }
            pass(c);
            if (c == quote) {
                quote = 0;
            } else if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
                begin = line;
            } else if (c == '\\' && quote != '\'') {
                escaped(argument);
            } else {
                argument.append(c);
            }
        }
        if (quote != 0) {
            throw new ConfigurationFile.InvalidFileException(
                    file + ":" + begin + ": the quote " + quote + " has no end; close it, or write \\" + quote);
        }
        return argument.toString();
    }

    /** The character behind a backslash; one that ends a line is left out with it. */
    private void escaped(StringBuilder argument) {
        if (at == text.length()) {
            argument.append('\\');
            return;
        }
        char c = text.charAt(at);
        pass(c);
        if (c != '\n') {
            argument.append(c);
        }
    }

    private void pass(char c) {
        at++;
        if (c == '\n') {
            line++;
        }
    }
}
