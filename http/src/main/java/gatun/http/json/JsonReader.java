// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;

/**
 * Reads one JSON document that lies in native memory, from front to back, without building a tree of it.
 *
 * <p>Accepts RFC 8259 and, beyond it, {@code NaN}, {@code Inf} and {@code Infinity} with or without a minus. Bytes of
 * strings are not checked for being UTF-8. Failures are {@link GatunException}s of INVALID_ARGUMENT in the words that
 * clients of the protocol know: for a text that is no JSON they give the byte offset from the start of the document;
 * for JSON of another type they name the type. For one thread.
 */
public final class JsonReader extends JsonCursor {
    private static final SyntaxFailure STANDARD_FAILURE =
            (what, offset) -> "failed to parse the request JSON buffer: " + what + " at " + offset;

    private RequestUsage usage;

    /** The beginning of the text of a failure of the text that is read; empty for a name. */
    private String failingText = "";

    /** Reads a text that must not change meanwhile; {@code usage} counts and bounds each text before it is made. */
    public JsonReader(MemorySegment text, long start, long byteSize, RequestUsage usage) {
        this(text, start, byteSize, STANDARD_FAILURE, usage);
    }

    /** A reader of documents that {@link #begin(MemorySegment, long, long, RequestUsage) begin} one after the other. */
    public JsonReader() {
        this(MemorySegment.NULL, 0, 0);
    }

    /** The same for a document that is counted alone, with the standard limits for its texts. */
    public JsonReader(MemorySegment text, long start, long byteSize) {
        this(text, start, byteSize, RequestUsage.standard());
    }

    /** The same with another protocol's words, counting the texts in {@code usage}. */
    public JsonReader(MemorySegment text, long start, long byteSize, SyntaxFailure syntaxFailure, RequestUsage usage) {
        super(syntaxFailure);
        this.usage = usage;
        begin(text, start, byteSize);
    }

    /** Reads another document, which must not change meanwhile, and forgets the last. {@code counted} bounds texts. */
    public void begin(MemorySegment document, long start, long byteSize, RequestUsage counted) {
        usage = counted;
        failingText = "";
        begin(document, start, byteSize);
    }

    /** Lets arrays and objects be nested to {@code levels}; a level takes a bit of memory while it is skipped. */
    public JsonReader depthLimit(int levels) {
        limitDepth(levels);
        return this;
    }

    /** The name of the member that {@link #nextMember} went to. Throws as {@link #readString(String)}. */
    public String name() {
        return makeText();
    }

    /** Reads a string. Throws {@link GatunException} RESOURCE_EXHAUSTED if it, or all texts together, are too long. */
    public String readString(String failing) {
        scanText(failing);
        return makeText();
    }

    /** A text of the string that {@link #measureString} has read last; the caller has counted it already. */
    public String countedText() {
        return string.text(text);
    }

    /** Reads a string that is to become a text; of one that is too long, no more than it may have. */
    private void scanText(String failing) {
        failingText = failing;
        long ignored = measureString(failing, textLimit());
        failingText = "";
    }

    @Override
    long textLimit() {
        return usage.limits().textByteSize();
    }

    @Override
    GatunException textTooLong(long quote) {
        return usage.limits().textTooLong(place(failingText, quote));
    }

    private String place(String failing, long quote) {
        String place = "the string at byte " + (quote - start) + " of the JSON";
        return failing.isEmpty() ? place : failing + ": " + place;
    }

    private String makeText() {
        long byteSize = string.byteSize();
        if (byteSize > textLimit()) {
            throw textTooLong(string.position());
        }
        usage.addText(byteSize);
        return string.text(text);
    }

    /** Reads a string: the name, in ASCII, of one of {@code known}, so that no new one is made, or else a new one. */
    public <T> String readString(String failing, List<T> known, Function<T, String> name) {
        scanText(failing);
        for (int i = 0; i < known.size(); i++) {
            String candidate = name.apply(known.get(i));
            if (string.equalsAscii(text, candidate)) {
                return candidate;
            }
        }
        return makeText();
    }

    /** Reads a string without making a {@code String}, and returns its bytes in UTF-8; {@link #copyString} follows. */
    public long measureString(String failing) {
        return measureString(failing, Long.MAX_VALUE);
    }

    private long measureString(String failing, long byteLimit) {
        if (peek() != JsonKind.STRING) {
            throw JsonFailure.wrongType(failing, "string");
        }
        at = string.scan(this, text, at, end, byteLimit);
        return string.byteSize();
    }

    /** Writes the string that {@link #measureString} has read last, from {@code offset} of {@code target} on. */
    public void copyString(MemorySegment target, long offset) {
        string.copyTo(text, target, offset);
    }

    /** Reads {@code true} or {@code false}. */
    public boolean readBoolean(String failing) {
        if (peek() != JsonKind.BOOLEAN) {
            throw JsonFailure.wrongType(failing, "boolean");
        }
        return literalIsTrue();
    }

    /** Reads an integer from 0 to 2^64 - 1, in the bits of a long. */
    public long readUnsigned(String failing) {
        return readUnsigned(failing, ErrorCode.INVALID_ARGUMENT);
    }

    /** As {@link #readUnsigned(String)}, with another code than INVALID_ARGUMENT for other values. */
    public long readUnsigned(String failing, ErrorCode wrongType) {
        if (!readNumber() || !number.fitsUnsigned64()) {
            throw new GatunException(
                    wrongType,
                    JsonFailure.wrongType(failing, "unsigned-integer").getMessage());
        }
        return number.integerBits();
    }

    /** Reads a number of any kind; afterwards valid until the next value is read. */
    public JsonNumber readNumber(String failing) {
        if (!readNumber()) {
            throw JsonFailure.wrongType(failing, "number");
        }
        return number;
    }

    /**
     * Reads the next elements that are numbers FP32 can hold, at most {@code most}, into {@code target} from
     * {@code offset} on; stops behind the last. Returns how many; none, with nothing read over, if the first is none.
     */
    public long readFloats(MemorySegment target, long offset, long most) {
        long count = 0;
        long next = at;
        // What follows is for the next call, before which others get their turn of the carrier thread.
        long stop = CooperativeYield.stop(at, end);
        while (count < most && next < stop && JsonBytes.beginsNumber(text.get(JAVA_BYTE, next))) {
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

    /** Reads the {@code data} of a tensor, an array, as {@code data} was set up to. */
    public void readTensor(TensorDataReader data) {
        peek();
        at = data.read(this, text, at, end);
    }

    /** Reads the only element of a tensor that has no array around it, as {@code data} was set up to. */
    public void readElement(TensorDataReader data) {
        peek();
        at = data.readSingle(this, text, at, end);
    }

    private boolean readNumber() {
        if (peek() != JsonKind.NUMBER) {
            return false;
        }
        at = number.scan(this, at, end);
        return true;
    }

    private long blanksFrom(long position) {
        return JsonBytes.blanksFrom(text, position, end);
    }

    /** The meaning of single bytes of a JSON document. */
    static final class JsonBytes {
        /** The bits of {@code -} and {@code 0} to {@code 9}, from {@code -} on, with {@code ./} between. */
        private static final int MINUS_AND_DIGITS = 0b1_1111_1111_1001;

        private JsonBytes() {}

        /** The position of the first byte from {@code position} on that is not blank, or the end. */
        static long blanksFrom(MemorySegment json, long position, long end) {
            return position < end && isBlank(json.get(JAVA_BYTE, position))
                    ? behindBlanks(json, position + 1, end)
                    : position;
        }

        private static long behindBlanks(MemorySegment json, long position, long end) {
            long next = position;
            for (long stop = CooperativeYield.stop(next, end); next < end; stop = CooperativeYield.yieldAt(next, end)) {
                while (next < stop) {
                    if (!isBlank(json.get(JAVA_BYTE, next))) {
                        return next;
                    }
                    next++;
                }
            }
            return next;
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
}
