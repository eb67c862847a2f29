// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.JsonReader.JsonBytes;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;

/**
 * Reads a tensor's {@code data}: an array of leaves, flat or nested up to {@link JsonCursor#DEPTH_LIMIT}, of which only
 * the leaves are counted. Numbers go into native memory without an object in between. For one thread.
 */
public final class TensorDataReader {

    private static final String FAILING = "Unable to parse 'data'";

    private final JsonNumber number = new JsonNumber();
    private final JsonString string = new JsonString();

    private Datatype datatype = Datatype.INVALID;
    private String name = "";
    private MemorySegment target = MemorySegment.NULL;
    private boolean measuring;
    private long expectedCount;
    private long count;
    private long offset;

    /** One for a request. */
    public TensorDataReader() {}

    /** Sets up to read {@code elementCount} leaves into memory of their size; more are only counted. */
    public TensorDataReader into(String input, Datatype elementType, long elementCount, MemorySegment elements) {
        start(elementType, elementCount, elements, false);
        name = input;
        return this;
    }

    /** Sets up to count the leaves of a fixed-size datatype, and to keep none. Otherwise as {@link #into}. */
    public TensorDataReader counting(String input, Datatype elementType) {
        return into(input, elementType, 0, MemorySegment.NULL);
    }

    /** Sets up to count the strings of a BYTES tensor and to find out {@link #encodedByteSize}. */
    public TensorDataReader measuringStrings() {
        start(Datatype.BYTES, Long.MAX_VALUE, MemorySegment.NULL, true);
        return this;
    }

    /** Sets up to read the strings of a BYTES tensor in raw form, once they have been measured. */
    public TensorDataReader strings(MemorySegment elements) {
        start(Datatype.BYTES, Long.MAX_VALUE, elements, false);
        return this;
    }

    /** How many leaves were read. */
    public long count() {
        return count;
    }

    /** Bytes that the strings take in raw form. */
    public long encodedByteSize() {
        return offset;
    }

    /** Throws {@link GatunException} INVALID_ARGUMENT unless there were as many leaves as the shape asks for. */
    public void requireCount(long shapeCount) {
        if (count == shapeCount) {
            return;
        }
        // The beginning is what clients of the protocol know.
        String known = count < shapeCount
                ? "Failed to parse 'data' field: shape does not match true shape"
                : "Unable to parse 'data': Shape does not match true shape of 'data' field";
        throw GatunException.invalidArgument(
                known + ": the shape of input '" + name + "' asks for " + shapeCount + " elements, got " + count);
    }

    private void start(Datatype elementType, long elementCount, MemorySegment elements, boolean measureOnly) {
        datatype = elementType;
        expectedCount = elementCount;
        target = elements;
        measuring = measureOnly;
        count = 0;
        offset = 0;
    }

    /** Reads the array whose first byte stands at {@code position}; returns where it ends. */
    long read(JsonCursor cursor, MemorySegment json, long position, long end) {
        if (json.get(JAVA_BYTE, position) != '[') {
            throw JsonFailure.wrongType(FAILING, "array");
        }
        number.readFrom(json);
        long at = position;
        long yieldedAt = position;
        int open = 0;
        while (true) {
            if (at - yieldedAt >= CooperativeYield.STEP) {
                yieldedAt = at;
                CooperativeYield.now();
            }
            at = JsonBytes.blanksFrom(json, at, end);
            byte c = at < end ? json.get(JAVA_BYTE, at) : 0;
            boolean valueRead = true;
            if (c == '[') {
                if (++open > JsonCursor.DEPTH_LIMIT) {
                    throw JsonFailure.tooDeep(JsonCursor.DEPTH_LIMIT);
                }
                at = JsonBytes.blanksFrom(json, at + 1, end);
                valueRead = at < end && json.get(JAVA_BYTE, at) == ']';
            } else {
                at = readLeaf(cursor, json, at, end, c);
            }
            while (valueRead) {
                at = JsonBytes.blanksFrom(json, at, end);
                byte next = at < end ? json.get(JAVA_BYTE, at) : 0;
                if (next != ',' && next != ']') {
                    throw cursor.syntax("Missing a comma or ']' after an array element.", at);
                }
                at++;
                if (next == ',') {
                    break;
                }
                if (--open == 0) {
                    return at;
                }
            }
        }
    }

    /** Reads a tensor's only leaf at {@code position}, without an array around it; returns where it ends. */
    long readSingle(JsonCursor cursor, MemorySegment json, long position, long end) {
        number.readFrom(json);
        return readLeaf(cursor, json, position, end, json.get(JAVA_BYTE, position));
    }

    private long readLeaf(JsonCursor cursor, MemorySegment json, long at, long end, byte first) {
        return switch (datatype) {
            case BYTES -> readStringLeaf(cursor, json, at, end, first);
            case BOOL -> readBooleanLeaf(cursor, json, at, end, first);
            default -> readNumberLeaf(cursor, at, end, first);
        };
    }

    private long readStringLeaf(JsonCursor cursor, MemorySegment json, long at, long end, byte first) {
        if (first != '"') {
            throw wrongKind(cursor, at, end, first, "string");
        }
        long next = string.scan(cursor, json, at, end, Long.MAX_VALUE);
        count++;
        long byteSize = string.byteSize();
        if (!measuring) {
            string.copyTo(json, target, BytesCodec.putLength(target, offset, byteSize));
        }
        offset += BytesCodec.LENGTH_BYTES + byteSize;
        return next;
    }

    private long readBooleanLeaf(JsonCursor cursor, MemorySegment json, long at, long end, byte first) {
        if (first != 't' && first != 'f') {
            throw wrongKind(cursor, at, end, first, "boolean");
        }
        long next = cursor.literal(first == 't' ? "true" : "false", json, at, end);
        if (++count <= expectedCount) {
            target.set(JAVA_BYTE, offset++, (byte) (first == 't' ? 1 : 0));
        }
        return next;
    }

    private long readNumberLeaf(JsonCursor cursor, long at, long end, byte first) {
        if (!JsonBytes.beginsNumber(first)) {
            throw wrongKind(cursor, at, end, first, expected());
        }
        long next = number.scan(cursor, at, end);
        if (++count > expectedCount) {
            return next;
        }
        if (datatype == Datatype.FP32) {
            // Most tensors: not worth a call and a table for each number.
            float value = number.toFloat();
            if (Float.isInfinite(value) && number.isFinite()) {
                throw misfit("-3.4028235e38", "3.4028235e38");
            }
            target.set(ElementLayouts.FP32, offset, value);
            offset += Float.BYTES;
        } else {
            store();
        }
        return next;
    }

    private void store() {
        switch (datatype) {
            case FP64 -> target.set(ElementLayouts.FP64, offset, number.toDouble());
            case INT8 -> target.set(JAVA_BYTE, offset, (byte) within(Byte.MIN_VALUE, Byte.MAX_VALUE));
            case INT16 -> target.set(ElementLayouts.INT16, offset, (short) within(Short.MIN_VALUE, Short.MAX_VALUE));
            case INT32 -> target.set(ElementLayouts.INT32, offset, (int) within(Integer.MIN_VALUE, Integer.MAX_VALUE));
            case INT64 -> target.set(ElementLayouts.INT64, offset, signed());
            case UINT8 -> target.set(JAVA_BYTE, offset, (byte) upTo(0xFF));
            case UINT16 -> target.set(ElementLayouts.INT16, offset, (short) upTo(0xFFFF));
            case UINT32 -> target.set(ElementLayouts.INT32, offset, (int) upTo(0xFFFF_FFFFL));
            case UINT64 -> target.set(ElementLayouts.INT64, offset, unsigned());
            default -> throw new IllegalStateException(datatype + " is not stored here");
        }
        offset += datatype.byteSize();
    }

    private long signed() {
        if (!number.fitsSigned64()) {
            throw JsonFailure.wrongType(FAILING, "signed-integer");
        }
        return number.integerBits();
    }

    private long unsigned() {
        if (!number.fitsUnsigned64()) {
            throw JsonFailure.wrongType(FAILING, "unsigned-integer");
        }
        return number.integerBits();
    }

    private long within(long least, long greatest) {
        long value = signed();
        if (value < least || value > greatest) {
            throw misfit(Long.toString(least), Long.toString(greatest));
        }
        return value;
    }

    private long upTo(long greatest) {
        long value = unsigned();
        if (value < 0 || value > greatest) {
            throw misfit("0", Long.toString(greatest));
        }
        return value;
    }

    private GatunException misfit(String least, String greatest) {
        return GatunException.invalidArgument("Unable to parse 'data': element " + (count - 1) + " of input '" + name
                + "' is " + number.shown() + ", which " + datatype.wireName() + " cannot hold: expected " + least
                + " to " + greatest);
    }

    private String expected() {
        return switch (datatype) {
            case FP32, FP64 -> "number";
            case INT8, INT16, INT32, INT64 -> "signed-integer";
            case UINT8, UINT16, UINT32, UINT64 -> "unsigned-integer";
            case BOOL -> "boolean";
            case BYTES -> "string";
            default -> throw new IllegalStateException(datatype + " has no form in JSON");
        };
    }

    /** The failure of a leaf that is not of the expected kind: another type, or no JSON at all. */
    private static GatunException wrongKind(JsonCursor cursor, long at, long end, byte first, String expected) {
        boolean beginsValue = at < end && "{\"-0123456789NItfn".indexOf(first) >= 0;
        return beginsValue ? JsonFailure.wrongType(FAILING, expected) : cursor.syntax("Invalid value.", at);
    }
}
