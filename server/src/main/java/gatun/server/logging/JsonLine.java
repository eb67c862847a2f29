// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

/** A JSON object on one line. No character of a text ends the line or controls a terminal. Not thread-safe. */
final class JsonLine {
    private static final int FIRST_PRINTABLE = 0x20;
    private static final int DELETE = 0x7f;
    private static final int LAST_CONTROL = 0x9f;
    private static final char LINE_SEPARATOR = '\u2028';
    private static final char PARAGRAPH_SEPARATOR = '\u2029';

    private final StringBuilder line;
    private boolean begun;

    JsonLine(StringBuilder line) {
        this.line = line.append('{');
    }

    /** Adds a text, unless it is empty. */
    JsonLine text(String name, String value) {
        if (!value.isEmpty()) {
            quote(member(name), value);
        }
        return this;
    }

    /** Adds a number, unless it is negative. */
    JsonLine number(String name, long value) {
        if (value >= 0) {
            member(name).append(value);
        }
        return this;
    }

    void end() {
        line.append("}\n");
    }

    private StringBuilder member(String name) {
        if (begun) {
            line.append(',');
        }
        begun = true;
        return line.append('"').append(name).append("\":");
    }

    /** Appends {@code text} in double quotes, with escapes that JSON knows. */
    static void quote(StringBuilder line, String text) {
        line.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> line.append("\\\"");
                case '\\' -> line.append("\\\\");
                case '\n' -> line.append("\\n");
                case '\r' -> line.append("\\r");
                case '\t' -> line.append("\\t");
                default -> {
                    if (isShown(text, i)) {
                        line.append(c);
                    } else {
                        line.append(String.format("\\u%04x", (int) c));
                    }
                }
            }
        }
        line.append('"');
    }

    /** Whether the character at {@code index} can stand as it is: no control character, and no half of a pair. */
    private static boolean isShown(String text, int index) {
        char c = text.charAt(index);
        if (c < FIRST_PRINTABLE || (c >= DELETE && c <= LAST_CONTROL)) {
            return false;
        }
        if (c == LINE_SEPARATOR || c == PARAGRAPH_SEPARATOR) {
            return false;
        }
        if (Character.isHighSurrogate(c)) {
            return index + 1 < text.length() && Character.isLowSurrogate(text.charAt(index + 1));
        }
        return !Character.isLowSurrogate(c) || (index > 0 && Character.isHighSurrogate(text.charAt(index - 1)));
    }
}
