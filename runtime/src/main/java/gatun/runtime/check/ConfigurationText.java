// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import gatun.runtime.check.Problem.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where everything stands in a text in protobuf's text format. Protobuf's own parser tells the places of messages, but
 * not of those in a list. Understands any text that it takes, and of others what it can. Immutable.
 */
final class ConfigurationText {
    /**
     * A field as it was written; each element of a list is one.
     *
     * @param field its name
     * @param value its value where that is a single one, without quotes; else empty
     * @param position where its name stands, or the element where it stands in a list
     * @param depth how many fields it stands in
     * @param fields what stands in it
     */
    record Node(String field, String value, Position position, int depth, List<Node> fields) {
        /** The first field of that name in this one. */
        Optional<Node> child(String name) {
            return fields.stream().filter(node -> node.field.equals(name)).findFirst();
        }
    }

    private static final Pattern TOKEN =
            Pattern.compile("#[^\\n]*|\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'|[A-Za-z0-9_.+/-]+|[^\\s]");

    /** A word or a sign, and where it stands. */
    private record Token(String text, Position position) {}

    private final List<Token> tokens = new ArrayList<>();
    private final List<Node> all = new ArrayList<>();
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
            fields(0);
            next++; // an end that has no beginning
        }
    }

    /** The places of {@code text}. */
    static ConfigurationText of(String text) {
        return new ConfigurationText(text);
    }

    /** Every field, outer ones before those in them. */
    List<Node> nodes() {
        return all;
    }

    /** Reads fields up to the end of the message that they stand in. */
    private List<Node> fields(int depth) {
        List<Node> fields = new ArrayList<>();
        while (next < tokens.size() && !is("}") && !is(">")) {
            Token name = tokens.get(next++);
            if (is(":")) {
                next++;
            }
            if (!is("[")) {
                value(name, name.position(), depth).ifPresent(fields::add);
            } else {
                next++;
                while (next < tokens.size() && !is("]")) {
                    value(name, tokens.get(next).position(), depth).ifPresent(fields::add);
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
        return fields;
    }

    private Optional<Node> value(Token name, Position position, int depth) {
        if (next >= tokens.size()) {
            return Optional.empty();
        }
        Token first = tokens.get(next++);
        int at = all.size();
        boolean message = first.text().equals("{") || first.text().equals("<");
        List<Node> fields = message ? fields(depth + 1) : List.of();
        if (message) {
            next++;
        }
        String value = message ? "" : first.text().replaceAll("^[\"']|[\"']$", "");
        Node node = new Node(name.text(), value, position, depth, fields);
        all.add(at, node);
        return Optional.of(node);
    }

    private boolean is(String text) {
        return next < tokens.size() && tokens.get(next).text().equals(text);
    }
}
