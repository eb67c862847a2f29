// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

/** Texts of a server as a terminal may show them: nothing in them moves the cursor or turns the line around. */
public final class SafeText {
    private SafeText() {}

    /** At most {@code limit} characters of {@code text}; what is no visible character becomes a question mark. */
    public static String of(String text, int limit) {
        StringBuilder safe = new StringBuilder(Math.min(text.length(), limit));
        int at = 0;
        while (at < text.length()) {
            int character = text.codePointAt(at);
            if (safe.length() + Character.charCount(character) > limit) {
                return limit < 3 ? safe.toString() : safe.substring(0, Math.min(safe.length(), limit - 3)) + "...";
            }
            safe.appendCodePoint(isVisible(character) ? character : '?');
            at += Character.charCount(character);
        }
        return safe.toString();
    }

    private static boolean isVisible(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK -> false;
            default -> true;
        };
    }
}
