// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

/**
 * A token of a parameter's text.
 *
 * @param kind what it is
 * @param text as it is written, a quoted name without its quotes
 * @param begin where it begins in the parameter's text, from 0
 * @param end where it ends
 */
record Token(Kind kind, String text, int begin, int end) {
    /** The kinds of tokens. */
    enum Kind {
        /** Digits. */
        INTEGER,
        /** Digits with a point or an exponent. */
        DECIMAL,
        /** The name of a tensor, a function or a type. */
        NAME,
        /** A name between quotes, which is a tensor's whatever it looks like. */
        QUOTED,
        /** An operator, a parenthesis or a comma. */
        SIGN,
        /** Behind the last word. */
        END
    }

    boolean isSign(char sign) {
        return kind == Kind.SIGN && text.charAt(0) == sign;
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    /** How messages name it. */
    String described() {
        return kind == Kind.END ? "the end" : "'" + text + "'";
    }
}
