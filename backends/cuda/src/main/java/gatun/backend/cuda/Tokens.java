// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.Parameters.Parameter;
import gatun.backend.cuda.Tokens.Token.Kind;
import gatun.memory.tensor.GatunException;
import java.util.ArrayList;
import java.util.List;

/** The words of one parameter, read one after the other. For one thread, at load. */
final class Tokens {
    private static final String SIGNS = "+-*/%(),";

    private final Parameter parameter;
    private final List<Token> tokens = new ArrayList<>();
    private int next;

    /** Takes the parameter's text apart. Throws INVALID_ARGUMENT at a character that is part of no word. */
    Tokens(Parameter parameter) {
        this.parameter = parameter;
        String text = parameter.text();
        int at = 0;
        while (at < text.length()) {
            if (Character.isWhitespace(text.charAt(at))) {
                at++;
                continue;
            }
            Token token = read(text, at);
            tokens.add(token);
            at = token.end();
        }
        tokens.add(new Token(Kind.END, "", text.length(), text.length()));
    }

    private Token read(String text, int begin) {
        char first = text.charAt(begin);
        if (SIGNS.indexOf(first) >= 0) {
            return new Token(Kind.SIGN, text.substring(begin, begin + 1), begin, begin + 1);
        }
        if (first == '\'' || first == '"') {
            int end = text.indexOf(first, begin + 1);
            if (end < 0) {
                throw parameter.refused(begin, "the quote " + first, "the same quote behind the name");
            }
            return new Token(Kind.QUOTED, text.substring(begin + 1, end), begin, end + 1);
        }
        if (isDigit(first) || first == '.') {
            return number(text, begin);
        }
        if (isNamePart(first)) {
            int end = begin + 1;
            while (end < text.length() && (isNamePart(text.charAt(end)) || isDigit(text.charAt(end)))) {
                end++;
            }
            return new Token(Kind.NAME, text.substring(begin, end), begin, end);
        }
        throw parameter.refused(
                begin,
                "'" + Character.toString(text.codePointAt(begin)) + "'",
                "a number, a name or one of + - * / % ( ) ,");
    }

    private Token number(String text, int begin) {
        int end = begin;
        boolean decimal = false;
        while (end < text.length()) {
            char c = text.charAt(end);
            boolean exponentSign = (c == '-' || c == '+') && "eE".indexOf(text.charAt(end - 1)) >= 0 && end > begin;
            if (!isDigit(c) && !isNamePart(c) && c != '.' && !exponentSign) {
                break;
            }
            decimal |= !isDigit(c);
            end++;
        }
        String digits = text.substring(begin, end);
        try {
            if (decimal) {
                Double.parseDouble(digits);
                // Java also accepts numbers such as 1f, which are refused here.
                if (!isDigit(digits.charAt(digits.length() - 1)) && !digits.endsWith(".")) {
                    throw new NumberFormatException(digits);
                }
            } else {
                Long.parseLong(digits);
            }
        } catch (NumberFormatException e) {
            throw parameter.refused(begin, "'" + digits + "'", "a decimal number, an integer below 2^63");
        }
        return new Token(decimal ? Kind.DECIMAL : Kind.INTEGER, digits, begin, end);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isNamePart(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    }

    Token peek() {
        return tokens.get(next);
    }

    /** The word behind the next one; the end when there is none. */
    Token peekSecond() {
        return tokens.get(Math.min(next + 1, tokens.size() - 1));
    }

    Token take() {
        Token token = tokens.get(next);
        if (token.kind() != Kind.END) {
            next++;
        }
        return token;
    }

    /** Takes the next word if it is this sign. */
    boolean takeIf(char sign) {
        if (!peek().isSign(sign)) {
            return false;
        }
        take();
        return true;
    }

    /** Takes the next word, which must be this sign. */
    void expect(char sign, String expected) {
        if (!takeIf(sign)) {
            throw refused(peek(), expected);
        }
    }

    /** Where the word that was taken last ends. */
    int takenEnd() {
        return next == 0 ? 0 : tokens.get(next - 1).end();
    }

    /** The parameter's text from there up to the word that was taken last. */
    String textFrom(Token first) {
        return parameter.text().substring(first.begin(), Math.max(first.begin(), takenEnd()));
    }

    Parameter parameter() {
        return parameter;
    }

    /** To be thrown: this token is not the expected one. */
    GatunException refused(Token found, String expected) {
        return parameter.refused(found.begin(), found.described(), expected);
    }

    /** A token; {@code end} is exclusive, {@code text} without the quotes of a quoted name. */
    record Token(Kind kind, String text, int begin, int end) {
        enum Kind {
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

        String described() {
            return kind == Kind.END ? "the end" : "'" + text + "'";
        }
    }
}
