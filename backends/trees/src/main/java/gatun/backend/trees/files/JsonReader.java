// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** Reads JSON, with the numbers NaN and Infinity, which XGBoost writes. */
final class JsonReader extends DocumentReader {
    JsonReader(MemorySegment bytes) {
        super(bytes);
    }

    @Override
    void readObject(Consumer<String> member) {
        open('{');
        if (closes('}')) {
            return;
        }
        do {
            String name = text();
            open(':');
            member.accept(name);
        } while (goesOn('}'));
    }

    @Override
    void readArray(Runnable element) {
        open('[');
        if (closes(']')) {
            return;
        }
        do {
            element.run();
        } while (goesOn(']'));
    }

    private void open(char bracket) {
        passBlanks();
        expect(bracket);
    }

    private boolean closes(char bracket) {
        passBlanks();
        if (peek() != bracket) {
            return false;
        }
        take();
        return true;
    }

    private boolean goesOn(char bracket) {
        if (closes(bracket)) {
            return false;
        }
        expect(',');
        return true;
    }

    private void passBlanks() {
        while (!isAtEnd() && (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t')) {
            take();
        }
    }

    @Override
    long integer() {
        String number = number();
        try {
            return Long.parseLong(number);
        } catch (NumberFormatException e) {
            try {
                return (long) Double.parseDouble(number);
            } catch (NumberFormatException f) {
                throw wrong("'" + number + "' where a number was expected");
            }
        }
    }

    private String number() {
        passBlanks();
        StringBuilder number = new StringBuilder();
        while (isOfNumber(peek()) && number.length() < 64) {
            number.append((char) take());
        }
        if (number.isEmpty()) {
            throw wrong(describe(peek()) + " where a number was expected");
        }
        return number.toString();
    }

    private static boolean isOfNumber(byte b) {
        return (b >= '0' && b <= '9')
                || b == '-'
                || b == '+'
                || b == '.'
                || (b >= 'a' && b <= 'z')
                || (b >= 'A' && b <= 'Z');
    }

    @Override
    String text() {
        open('"');
        StringBuilder text = new StringBuilder();
        for (byte b = take(); b != '"'; b = take()) {
            if (b >= 0 && b < ' ') {
                throw wrong("a control character in a text");
            }
            text.append((char) Byte.toUnsignedInt(b));
            if (b == '\\') {
                text.append((char) Byte.toUnsignedInt(take())); // Kept as it is: no name that is looked for has one.
            }
            if (text.length() > MAX_TEXT) {
                throw wrong("a text of more than " + MAX_TEXT + " bytes");
            }
        }
        return text.toString();
    }

    @Override
    void skip() {
        passBlanks();
        switch (peek()) {
            case '{' -> object(name -> skip());
            case '[' -> array(this::skip);
            case '"' -> text();
            default -> number();
        }
    }

    @Override
    void requireEnd() {
        passBlanks();
        super.requireEnd();
    }
}
