// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

/** Text within XML and HTML. */
final class Markup {
    private Markup() {}

    /**
     * {@code text} as it has to be written between tags and in attributes; what XML cannot hold becomes a question
     * mark.
     */
    static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                default -> escaped.append((c < ' ' && c != '\n' && c != '\t') || c >= 0xFFFE ? '?' : c);
            }
        }
        return escaped.toString();
    }
}
