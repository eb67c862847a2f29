// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The positions of fields in protobuf's text format, elements of lists included. Immutable. */
public final class ConfigurationText {
    /** A place in a text; line and column are counted from 1. */
    public record Position(int line, int column) {}

    /** A field as written, each element of a list one of its own; {@code value} without quotes, empty for a message. */
    record Field(String name, String value, Position position, Position valuePosition, List<Field> fields) {
        private boolean isCalled(String wanted) {
            return fields.stream().anyMatch(field -> NAMES.contains(field.name) && field.value.equals(wanted));
        }
    }

    private static final Pattern TOKEN =
            Pattern.compile("#[^\\n]*|\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'|[A-Za-z0-9_.+/-]+|[^\\s]");

    private static final List<String> NAMES = List.of("name", "key", "input_name", "model_name");

    /** A word or a sign, and where it is. */
    private record Token(String text, Position position) {}

    private final List<Token> tokens = new ArrayList<>();
    private final List<Field> fields = new ArrayList<>();
    private int next;

    private ConfigurationText(String text) {
        Matcher matcher = TOKEN.matcher(text);
        int line = 1;
        int lineStart = 0;
        int seen = 0;
        while (matcher.find()) {
            for (int i = text.indexOf('\n', seen); i >= 0 && i < matcher.start(); i = text.indexOf('\n', i + 1)) {
                line++;
                lineStart = i + 1;
            }
            seen = matcher.start();
            if (!matcher.group().startsWith("#")) {
                tokens.add(new Token(matcher.group(), new Position(line, matcher.start() - lineStart + 1)));
            }
        }
        while (next < tokens.size()) {
            fields.addAll(readFields());
            next++; // an end that has no beginning
        }
    }

    /** Reads {@code text}. */
    public static ConfigurationText of(String text) {
        return new ConfigurationText(text);
    }

    List<Field> fields() {
        return fields;
    }

    /** The position of {@code path}, or of the message around it; empty where the text has neither. */
    public Optional<Position> position(ConfigurationPath path) {
        Optional<Field> found = Optional.empty();
        List<Field> within = fields;
        for (ConfigurationPath.Step step : path.steps()) {
            Optional<Field> field = find(within, step);
            if (field.isEmpty()) {
                break;
            }
            found = field;
            within = field.get().fields;
        }
        return found.map(Field::position);
    }

    private static Optional<Field> find(List<Field> fields, ConfigurationPath.Step step) {
        List<Field> named =
                fields.stream().filter(field -> field.name.equals(step.field())).toList();
        if (step.element().isEmpty()) {
            return named.stream().findFirst();
        }
        return named.stream()
                .filter(field -> field.isCalled(step.element()))
                .findFirst()
                .or(() -> step.element().matches("[0-9]{1,9}")
                        ? named.stream().skip(Integer.parseInt(step.element())).findFirst()
                        : Optional.empty());
    }

    /** Reads fields up to the end of the message that they are in. */
    private List<Field> readFields() {
        List<Field> read = new ArrayList<>();
        while (next < tokens.size() && !is("}") && !is(">")) {
            Token name = tokens.get(next++);
            if (is(":")) {
                next++;
            }
            if (!is("[")) {
                readValue(name, name.position()).ifPresent(read::add);
            } else {
                next++;
                while (next < tokens.size() && !is("]")) {
                    readValue(name, tokens.get(next).position()).ifPresent(read::add);
                    if (is(",")) {
                        next++;
                    }
                }
                next++;
            }
            if (is(",") || is(";")) {
                next++;
            }
        }
        return read;
    }

    private Optional<Field> readValue(Token name, Position position) {
        if (next >= tokens.size()) {
            return Optional.empty();
        }
        Token first = tokens.get(next++);
        boolean message = first.text().equals("{") || first.text().equals("<");
        List<Field> inner = message ? readFields() : List.of();
        if (message) {
            next++;
        }
        String value = message ? "" : first.text().replaceAll("^[\"']|[\"']$", "");
        return Optional.of(new Field(name.text(), value, position, first.position(), inner));
    }

    private boolean is(String text) {
        return next < tokens.size() && tokens.get(next).text().equals(text);
    }
}
