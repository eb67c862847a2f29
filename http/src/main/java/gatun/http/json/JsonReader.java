// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import gatun.runtime.limits.RequestUsage;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads one JSON document that lies in native memory, from front to back, without building a tree of it.
 *
 * <p>Accepts RFC 8259 and, beyond it, {@code NaN}, {@code Inf} and {@code Infinity} with or without a minus. Bytes of
 * strings are not checked for being UTF-8. Failures are {@link GatunException}s of INVALID_ARGUMENT in the words that
 * clients of the protocol know: for a text that is no JSON they give the byte offset from the start of the document;
 * for JSON of another type they name the type. For one thread.
 */
public final class JsonReader {
    /** How deep arrays and objects may be nested, unless {@link #depthLimit} says otherwise. */
    public static final int DEPTH_LIMIT = 100;

    /**
     * The bits of {@code -} and {@code 0} to {@code 9}, counted from {@code -}; between them lie {@code .} and
     * {@code /}.
     */
    private static final int MINUS_AND_DIGITS = 0b1_1111_1111_1001;

    /** The type of a value. */
    public enum Kind {
        /** Members in braces. */
        OBJECT,
        /** Elements in brackets. */
        ARRAY,
        /** A text. */
        STRING,
        /** A number, {@code NaN} and the infinities included. */
        NUMBER,
        /** {@code true} or {@code false}. */
        BOOLEAN,
        /** {@code null}. */
        NULL
    }

    /** Makes the text by which a client is told that a document is no JSON. */
    @FunctionalInterface
    public interface SyntaxFailure {
        /** The failure {@code what}, a sentence, at byte {@code offset} of the document. */
        String text(String what, long offset);
    }

    private final MemorySegment text;
    private final SyntaxFailure syntaxFailure;
    private final RequestUsage usage;
    private final long start;
    private final long end;
    private final JsonNumber number = new JsonNumber();
    private final JsonString string = new JsonString();
    private final Brackets brackets = new Brackets();

    private long at;
    private int depth;
    private int depthLimit = DEPTH_LIMIT;
    private @Nullable Nesting skipped;
    /**
     * The step of the document in which other threads last had their turn on the carrier thread; an int, which takes no
     * room beside its neighbours.
     */
    private int yieldedIn;

    /** Whether the object or array that was entered last has not been asked for its first entry. */
    private boolean fresh;

    /**
     * Reads {@code byteSize} bytes from {@code start} of {@code text}, which must not change meanwhile.
     *
     * @param usage bounds the texts that are made: each is measured and counted before
     */
    public JsonReader(MemorySegment text, long start, long byteSize, RequestUsage usage) {
        this(
                text,
                start,
                byteSize,
                (what, offset) -> "failed to parse the request JSON buffer: " + what + " at " + offset,
                usage);
    }

    /**
     * The same for a document that is not counted together with anything else: its texts are bounded by the standard
     * limits.
     */
    public JsonReader(MemorySegment text, long start, long byteSize) {
        this(text, start, byteSize, RequestUsage.standard());
    }

    /** The same with another protocol's words for a text that is no JSON. */
    public JsonReader(MemorySegment text, long start, long byteSize, SyntaxFailure syntaxFailure) {
        this(text, start, byteSize, syntaxFailure, RequestUsage.standard());
    }

    /** The same with another protocol's words, counting the texts in {@code usage}. */
    public JsonReader(MemorySegment text, long start, long byteSize, SyntaxFailure syntaxFailure, RequestUsage usage) {
        this.usage = usage;
        this.text = text;
        this.syntaxFailure = syntaxFailure;
        number.readFrom(text);
        this.start = start;
        this.end = start + byteSize;
        this.at = start;
    }

    /** Lets arrays and objects be nested to {@code levels}; a level takes a bit of memory while it is skipped. */
    public JsonReader depthLimit(int levels) {
        depthLimit = levels;
        return this;
    }

    /** The type of the next value. */
    public Kind peek() {
        skipBlanks();
        if (at == end) {
            throw syntax(at == start || onlyBlanksBefore() ? "The document is empty." : "Invalid value.", at);
        }
        return switch (text.get(JAVA_BYTE, at)) {
            case '{' -> Kind.OBJECT;
            case '[' -> Kind.ARRAY;
            case '"' -> Kind.STRING;
            case 't', 'f' -> Kind.BOOLEAN;
            case 'n' -> Kind.NULL;
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'N', 'I' -> Kind.NUMBER;
            default -> throw syntax("Invalid value.", at);
        };
    }

    /**
     * Enters an object; {@link #nextMember} follows until it returns false.
     *
     * @param failing the beginning of the text of a failure, such as {@code Unable to parse 'parameters'}; may be empty
     */
    public void enterObject(String failing) {
        if (peek() != Kind.OBJECT) {
            throw wrongType(failing, "object");
        }
        enter();
    }

    /**
     * Enters an array; {@link #nextElement} follows until it returns false. As for all reading methods, {@code failing}
     * is the beginning of the text of a failure.
     */
    public void enterArray(String failing) {
        if (peek() != Kind.ARRAY) {
            throw wrongType(failing, "array");
        }
        enter();
    }

    /**
     * Goes to the next member of the object, past its name, which {@link #nameIs} and {@link #name} tell until the
     * value is read. Returns false at the end of the object, which is left then.
     */
    public boolean nextMember() {
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
        at = string.scan(this, text, at, end);
        skipBlanks();
        if (at == end || text.get(JAVA_BYTE, at) != ':') {
            throw syntax("Missing a colon after a name of object member.", at);
        }
        at++;
        return true;
    }

    /** Goes to the next element of the array; returns false at its end, which is left then. */
    public boolean nextElement() {
        int step = (int) ((at - start) / CooperativeYield.STEP);
        if (step != yieldedIn) {
            yieldedIn = step;
            CooperativeYield.now();
        }
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

    /**
     * The name of the member that {@link #nextMember} went to.
     *
     * @throws GatunException as {@link #readString(String)}
     */
    public String name() {
        return makeText("");
    }

    /** The bytes that the name has in UTF-8; {@link #copyString} writes it without making a {@code String}. */
    public long nameByteSize() {
        return string.byteSize();
    }

    /**
     * Reads a string.
     *
     * @throws GatunException RESOURCE_EXHAUSTED when it is longer than a text may be, or all of them together are
     */
    public String readString(String failing) {
        long ignored = measureString(failing);
        return makeText(failing);
    }

    /**
     * Makes a text of the string that {@link #measureString} has read last; the caller has counted it already.
     *
     * @see #readString(String)
     */
    public String countedText() {
        return string.text(text);
    }

    private String makeText(String failing) {
        long byteSize = string.byteSize();
        if (byteSize > usage.limits().textByteSize()) {
            String place = "the string at byte " + (string.position() - start) + " of the JSON";
            usage.limits().requireText(byteSize, failing.isEmpty() ? place : failing + ": " + place);
        }
        usage.addText(byteSize);
        return string.text(text);
    }

    /**
     * Reads a string and returns the one of {@code known} that equals it, so that no new one is made; else a new one.
     */
    public String readString(String failing, Iterable<String> known) {
        if (peek() != Kind.STRING) {
            throw wrongType(failing, "string");
        }
        at = string.scan(this, text, at, end);
        for (String candidate : known) {
            if (string.equalsAscii(text, candidate)) {
                return candidate;
            }
        }
        return makeText(failing);
    }

    /** Reads a string without making a {@code String}, and returns its bytes in UTF-8; {@link #copyString} follows. */
    public long measureString(String failing) {
        if (peek() != Kind.STRING) {
            throw wrongType(failing, "string");
        }
        at = string.scan(this, text, at, end);
        return string.byteSize();
    }

    /** Writes the string that {@link #measureString} has read last, from {@code offset} of {@code target} on. */
    public void copyString(MemorySegment target, long offset) {
        string.copyTo(text, target, offset);
    }

    /** Reads {@code true} or {@code false}. */
    public boolean readBoolean(String failing) {
        if (peek() != Kind.BOOLEAN) {
            throw wrongType(failing, "boolean");
        }
        return literalIsTrue();
    }

    /** Reads an integer from 0 to 2^64 - 1, in the bits of a long. */
    public long readUnsigned(String failing) {
        if (!readNumber() || !number.fitsUnsigned64()) {
            throw wrongType(failing, "unsigned-integer");
        }
        return number.integerBits();
    }

    /** Reads an integer from -2^63 to 2^63 - 1. */
    public long readSigned(String failing) {
        if (!readNumber() || !number.fitsSigned64()) {
            throw wrongType(failing, "signed-integer");
        }
        return number.integerBits();
    }

    /** Reads a number of any kind; afterwards valid until the next value is read. */
    public JsonNumber readNumber(String failing) {
        if (!readNumber()) {
            throw wrongType(failing, "number");
        }
        return number;
    }

    /** Reads over a value of any kind; afterwards only its form has been checked. */
    public void skipValue() {
        switch (peek()) {
            case OBJECT, ARRAY -> skipNested();
            case STRING -> at = string.scan(this, text, at, end);
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
            Kind kind = peek();
            if (kind == Kind.OBJECT || kind == Kind.ARRAY) {
                enter();
                nesting.open(depth, kind == Kind.OBJECT);
            } else {
                skipValue();
            }
            while (depth > outer && !(nesting.isObject(depth) ? nextMember() : nextElement())) {
                // That one has ended; the one around it goes on.
            }
        } while (depth > outer);
    }

    /**
     * Skips the next value by its brackets alone, many bytes in one step. The text between them is not looked at: the
     * code that needs it reads it later, and finds then whether it is JSON and ends at the same place. Returns how many
     * elements {@link #countElements} would count, if it is JSON.
     *
     * @throws GatunException INVALID_ARGUMENT when the brackets do not end
     */
    public long passOver() {
        if (peek() != Kind.ARRAY && text.get(JAVA_BYTE, at) != '{') {
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
     * Finds the lengths of the nested arrays that the next value begins with, each the first element of the one before,
     * and does not move on. As for {@link #passOver}, their contents are not looked at.
     *
     * @param lengths receives them from {@code first} on, the outermost first
     * @return how many there are; one more than {@code lengths} has room for where there are too many
     */
    public int measureArrays(long[] lengths, int first) {
        return peek() == Kind.ARRAY ? brackets.measure(text, at, end, lengths, first) : 0;
    }

    /** Whether the next value is an object with one member only, a string called {@code name}; does not move on. */
    public boolean isObjectOf(String name) {
        if (peek() != Kind.OBJECT) {
            return false;
        }
        long from = at;
        int before = depth;
        enter();
        boolean only = nextMember() && nameIs(name) && peek() == Kind.STRING;
        if (only) {
            skipValue();
            only = !nextMember();
        }
        at = from;
        depth = before;
        fresh = false;
        return only;
    }

    /**
     * Reads the next element, and those that follow it in its array as long as they are numbers that FP32 can hold;
     * stops behind the last of them.
     *
     * @param target gets each as an FP32 element, from {@code offset} on
     * @param most how many to read at most
     * @return how many were read; none, and nothing is read over, when the first is no such number
     */
    public long readFloats(MemorySegment target, long offset, long most) {
        long count = 0;
        long next = at;
        while (count < most && next < end && beginsNumber(text.get(JAVA_BYTE, next))) {
            long behind = number.scan(this, next, end);
            float value = number.toFloat();
            if (Float.isInfinite(value) && number.isFinite()) {
                break;
            }
            at = behind;
            target.set(ElementLayouts.FP32, offset + count * Float.BYTES, value);
            count++;
            next = blanksFrom(at);
            if (next == end || text.get(JAVA_BYTE, next) != ',') {
                break;
            }
            next = blanksFrom(next + 1);
        }
        return count;
    }

    private long blanksFrom(long position) {
        return blanksFrom(text, position, end);
    }

    /** The position of the first byte from {@code position} on that is not blank, or the end. */
    static long blanksFrom(MemorySegment json, long position, long end) {
        long next = position;
        while (next < end && isBlank(json.get(JAVA_BYTE, next))) {
            next++;
        }
        return next;
    }

    /** Checks that nothing but blanks follows the value that was read. */
    public void end() {
        skipBlanks();
        if (at < end) {
            throw syntax("The document root must not be followed by other values.", at);
        }
    }

    /**
     * The failure of a document in which {@code found} was found: a syntax error anywhere in it comes first, as if the
     * whole document had been checked before. Nothing can be read afterwards.
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
            return syntax;
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

    /** Reads the {@code data} of a tensor, an array, as {@code data} was set up to. */
    public void readTensor(TensorDataReader data) {
        peek();
        at = data.read(this, text, at, end);
    }

    /**
     * Reads the only element of a tensor that stands there without an array around it, as {@code data} was set up to.
     */
    public void readElement(TensorDataReader data) {
        peek();
        at = data.readSingle(this, text, at, end);
    }

    /**
     * Skips a value and returns how many elements it has as a tensor: one, or those of an array, not of arrays in it.
     */
    public long countElements() {
        if (peek() != Kind.ARRAY) {
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

    /** The failure of a value that is JSON, but not of the expected type. */
    static GatunException wrongType(String failing, String expected) {
        String as = expected.equals("number") ? "double" : expected;
        return failed(failing, "attempt to access JSON non-" + expected + " as " + as);
    }

    /** The failure of an object that lacks {@code member}. */
    public static GatunException missingMember(String failing, String member) {
        return failed(failing, "attempt to access non-existing object member '" + member + "'");
    }

    /** The failure of a text that is no JSON at byte {@code position} of the segment. */
    GatunException syntax(String what, long position) {
        return GatunException.invalidArgument(syntaxFailure.text(what, position - start));
    }

    /** The failure of arrays or objects nested deeper than {@code limit}. */
    public static GatunException tooDeep(int limit) {
        return GatunException.invalidArgument("JSON nesting depth exceeds maximum allowed limit (" + limit + ")");
    }

    private static GatunException failed(String failing, String reason) {
        return GatunException.invalidArgument(failing.isEmpty() ? reason : failing + ": " + reason);
    }

    private boolean readNumber() {
        if (peek() != Kind.NUMBER) {
            return false;
        }
        at = number.scan(this, at, end);
        return true;
    }

    private boolean literalIsTrue() {
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
            throw tooDeep(depthLimit);
        }
    }

    private void leave() {
        at++;
        fresh = false;
        depth--;
    }

    private void skipBlanks() {
        at = blanksFrom(at);
    }

    private boolean onlyBlanksBefore() {
        for (long i = start; i < at; i++) {
            if (!isBlank(text.get(JAVA_BYTE, i))) {
                return false;
            }
        }
        return true;
    }

    /** Tests for a minus or a digit together, since the processor cannot guess which of them it is. */
    static boolean beginsNumber(byte first) {
        int offset = first - '-';
        return (offset >= 0 && offset <= '9' - '-' && (MINUS_AND_DIGITS >>> offset & 1) != 0)
                || first == 'N'
                || first == 'I';
    }

    static boolean isBlank(byte c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }
}
