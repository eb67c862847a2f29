// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.JsonReader.JsonBytes;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The place in a JSON document in native memory, and the ways on: from value to value, into arrays and objects, past
 * what nobody reads. Checks the form of all but what {@link #passOver} passes; makes no values. For one thread.
 */
public abstract sealed class JsonCursor permits JsonReader {
    /** How deep arrays and objects may be nested, unless {@link JsonReader#depthLimit} says otherwise. */
    public static final int DEPTH_LIMIT = 100;

    /** Makes the text by which a client is told that a document is no JSON. */
    @FunctionalInterface
    public interface SyntaxFailure {
        /** The failure {@code what}, a sentence, at byte {@code offset} of the document. */
        String text(String what, long offset);
    }

    private final SyntaxFailure syntaxFailure;

    // Of the document at hand.
    MemorySegment text = MemorySegment.NULL;
    long start;
    long end;
    final JsonNumber number = new JsonNumber();
    final JsonString string = new JsonString();
    private final JsonSkipScanner brackets = new JsonSkipScanner();

    long at;
    private int depth;
    private int depthLimit = DEPTH_LIMIT;
    private @Nullable Nesting skipped;
    /** The document's step at which the carrier thread was last yielded; an int, for the object's size. */
    private int yieldedIn;

    /** Whether the object or array that was entered last has not been asked for its first entry. */
    private boolean fresh;

    JsonCursor(SyntaxFailure syntaxFailure) {
        this.syntaxFailure = syntaxFailure;
    }

    final void begin(MemorySegment document, long from, long byteSize) {
        text = document;
        number.readFrom(document);
        start = from;
        end = from + byteSize;
        at = from;
        depth = 0;
        skipped = null;
        yieldedIn = 0;
        fresh = false;
    }

    final void limitDepth(int levels) {
        depthLimit = levels;
    }

    /** The type of the next value. */
    public JsonKind peek() {
        skipBlanks();
        if (at == end) {
            throw syntax(JsonBytes.blanksFrom(text, start, at) == at ? "The document is empty." : "Invalid value.", at);
        }
        return switch (text.get(JAVA_BYTE, at)) {
            case '{' -> JsonKind.OBJECT;
            case '[' -> JsonKind.ARRAY;
            case '"' -> JsonKind.STRING;
            case 't', 'f' -> JsonKind.BOOLEAN;
            case 'n' -> JsonKind.NULL;
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'N', 'I' -> JsonKind.NUMBER;
            default -> throw syntax("Invalid value.", at);
        };
    }

    /** Enters an object; {@link #nextMember} follows until false. {@code failing} begins failures' texts, if any. */
    public void enterObject(String failing) {
        if (peek() != JsonKind.OBJECT) {
            throw JsonFailure.wrongType(failing, "object");
        }
        enter();
    }

    /** Enters an array; {@link #nextElement} follows until false. {@code failing} begins failures' texts. */
    public void enterArray(String failing) {
        if (peek() != JsonKind.ARRAY) {
            throw JsonFailure.wrongType(failing, "array");
        }
        enter();
    }

    /** Goes to the next member, whose name {@link #nameIs} and {@link JsonReader#name} tell; false at the end. */
    public boolean nextMember() {
        yieldAtSteps();
        skipBlanks();
        if (fresh) {
            fresh = false;
            if (at < end && text.get(JAVA_BYTE, at) == '}') {
                leave();
                return false;
            }
        } else {
            byte separator = at < end ? text.get(JAVA_BYTE, at) : 0;
            if (separator == '}') {
                leave();
                return false;
            }
            if (separator != ',') {
                throw syntax("Missing a comma or '}' after an object member.", at);
            }
            at++;
            skipBlanks();
        }
        if (at == end || text.get(JAVA_BYTE, at) != '"') {
            throw syntax("Missing a name for object member.", at);
        }
        at = string.scan(this, text, at, end, textLimit());
        skipBlanks();
        if (at == end || text.get(JAVA_BYTE, at) != ':') {
            throw syntax("Missing a colon after a name of object member.", at);
        }
        at++;
        return true;
    }

    /** Goes to the next element of the array; returns false at its end, which is left then. */
    public boolean nextElement() {
        yieldAtSteps();
        skipBlanks();
        byte next = at < end ? text.get(JAVA_BYTE, at) : 0;
        if (next == ']') {
            leave();
            return false;
        }
        if (fresh) {
            fresh = false;
            return true;
        }
        if (next != ',') {
            throw syntax("Missing a comma or ']' after an array element.", at);
        }
        at++;
        skipBlanks();
        if (at < end && text.get(JAVA_BYTE, at) == ']') {
            throw syntax("Invalid value.", at);
        }
        return true;
    }

    /** Whether the member that {@link #nextMember} went to is called so; {@code expected} is ASCII. */
    public boolean nameIs(String expected) {
        return string.equalsAscii(text, expected);
    }

    /** The bytes of the name in UTF-8; {@link JsonReader#copyString} writes it without a {@code String}. */
    public long nameByteSize() {
        return string.byteSize();
    }

    /** Reads over a value of any kind; afterwards only its form has been checked. */
    public void skipValue() {
        switch (peek()) {
            case OBJECT, ARRAY -> skipNested();
            case STRING -> at = string.scan(this, text, at, end, Long.MAX_VALUE);
            case NUMBER -> at = number.scan(this, at, end);
            case BOOLEAN -> {
                boolean ignored = literalIsTrue();
            }
            case NULL -> literal("null");
        }
    }

    /** Skips an array or object, however deep: without recursion, and by the same rules as entering it. */
    private void skipNested() {
        Nesting nesting = skipped;
        if (nesting == null) {
            nesting = new Nesting();
            skipped = nesting;
        }
        int outer = depth;
        do {
            JsonKind kind = peek();
            if (kind == JsonKind.OBJECT || kind == JsonKind.ARRAY) {
                enter();
                nesting.open(depth, kind == JsonKind.OBJECT);
            } else {
                skipValue();
            }
            while (depth > outer && !(nesting.isObject(depth) ? nextMember() : nextElement())) {
                // That one has ended; the one around it goes on.
            }
        } while (depth > outer);
    }

    /** Skips a value; returns how many elements it has as a tensor: one, or those of an array, not of arrays in it. */
    public long countElements() {
        if (peek() != JsonKind.ARRAY) {
            skipValue();
            return 1;
        }
        long count = 0;
        enter();
        while (nextElement()) {
            skipValue();
            count++;
        }
        return count;
    }

    /**
     * Skips the next value by its brackets alone, many bytes a step; who reads the text later finds whether it is JSON
     * of that extent. Returns what {@link #countElements} would. Throws INVALID_ARGUMENT where brackets do not end.
     */
    public long passOver() {
        if (peek() != JsonKind.ARRAY && text.get(JAVA_BYTE, at) != '{') {
            skipValue();
            return 1;
        }
        boolean array = text.get(JAVA_BYTE, at) == '[';
        long from = at;
        at = brackets.pass(text, at, end);
        if (at < 0) {
            at = from;
            skipValue();
            throw syntax("Invalid value.", from);
        }
        return array ? brackets.elementCount() : 1;
    }

    /**
     * Finds the lengths of the nested arrays that the next value begins with, the outermost first, and does not move
     * on; contents are not looked at. Returns how many, one more than {@code lengths} has room for if too many.
     */
    public int measureArrays(long[] lengths, int first) {
        return peek() == JsonKind.ARRAY ? brackets.measure(text, at, end, lengths, first) : 0;
    }

    /** Whether the next value is an object with one member only, a string called {@code name}; does not move on. */
    public boolean isObjectOf(String name) {
        if (peek() != JsonKind.OBJECT) {
            return false;
        }
        long from = at;
        int before = depth;
        enter();
        boolean only = nextMember() && nameIs(name) && peek() == JsonKind.STRING;
        if (only) {
            skipValue();
            only = !nextMember();
        }
        at = from;
        depth = before;
        fresh = false;
        return only;
    }

    /** Checks that nothing but blanks follows the value that was read. */
    public void end() {
        skipBlanks();
        if (at < end) {
            throw syntax("The document root must not be followed by other values.", at);
        }
    }

    /**
     * The failure of a document in which {@code found} was found: a syntax error anywhere comes first, as if all had
     * been checked before. Values that are nested too deep end the search. Nothing can be read afterwards.
     */
    public GatunException failure(GatunException found) {
        if (found.code() != ErrorCode.INVALID_ARGUMENT) {
            return found;
        }
        at = start;
        depth = 0;
        try {
            skipValue();
            end();
        } catch (GatunException syntax) {
            return depth > depthLimit ? found : syntax;
        }
        return found;
    }

    /** The position of the next value, from the start of the segment, for a return by {@link #position(long)}. */
    public long position() {
        skipBlanks();
        return at;
    }

    /** Bytes from the next value to the end of the document. */
    public long remaining() {
        return end - at;
    }

    /** Goes back or forward to the position of a value that was skipped. The nesting must be the same there. */
    public void position(long position) {
        at = position;
    }

    abstract long textLimit();

    /** The failure of a string that goes on behind {@link #textLimit}; it begins behind {@code quote}. */
    abstract GatunException textTooLong(long quote);

    /** The failure of a text that is no JSON at byte {@code position} of the segment. */
    GatunException syntax(String what, long position) {
        return GatunException.invalidArgument(syntaxFailure.text(what, position - start));
    }

    final boolean literalIsTrue() {
        boolean value = text.get(JAVA_BYTE, at) == 't';
        literal(value ? "true" : "false");
        return value;
    }

    private void literal(String expected) {
        at = literal(expected, text, at, end);
    }

    /** The end of {@code expected}, whose first letter stands at {@code position}. */
    long literal(String expected, MemorySegment json, long position, long limit) {
        for (int i = 0; i < expected.length(); i++) {
            if (position + i == limit || json.get(JAVA_BYTE, position + i) != expected.charAt(i)) {
                throw syntax("Invalid value.", position + i);
            }
        }
        return position + expected.length();
    }

    private void enter() {
        at++;
        fresh = true;
        if (++depth > depthLimit) {
            throw JsonFailure.tooDeep(depthLimit);
        }
    }

    private void leave() {
        at++;
        fresh = false;
        depth--;
    }

    private void skipBlanks() {
        at = JsonBytes.blanksFrom(text, at, end);
    }

    /** Yields between values; within one, who scans it does. */
    private void yieldAtSteps() {
        int step = (int) ((at - start) / CooperativeYield.STEP);
        if (step != yieldedIn) {
            yieldedIn = step;
            CooperativeYield.now();
        }
    }
}
