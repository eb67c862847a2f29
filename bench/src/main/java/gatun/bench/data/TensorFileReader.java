// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.bench.data.JsonFile.JsonValue;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;

/**
 * Makes tensors from the values in a data file: {@code [1, 2, 3]}, nested or flat;
 * {@code {"content": [1, 2, 3], "shape": [3]}}; or the raw bytes as {@code {"b64": "AQID"}}, also as content. For one
 * thread.
 */
public final class TensorFileReader {
    private static final long ALIGNMENT = 64;
    private static final Set<String> MEMBERS = Set.of("content", "shape", "b64");

    private final JsonFile file;
    private final boolean batched;
    private final long batch;
    private final Arena arena;

    /** Data for one element of a batch serves for all {@code batch} elements, if {@code batched}. */
    public TensorFileReader(JsonFile file, boolean batched, long batch, Arena arena) {
        this.file = file;
        this.batched = batched;
        this.batch = batch;
        this.arena = arena;
    }

    /** A tensor of {@code spec}, whose shape may be variable. Throws {@link DataException} for unfit values. */
    public Tensor tensor(TensorSpec spec, JsonValue value) {
        if (!(value instanceof JsonValue.Obj object)) {
            return ofElements(spec, value, value);
        }
        for (String member : object.members().keySet()) {
            if (!MEMBERS.contains(member)) {
                throw file.wrong(
                        object,
                        "'" + spec.name() + "' has the member '" + member
                                + "': expected an array, {\"content\": [...], \"shape\": [...]} or {\"b64\": \"...\"}");
            }
        }
        TensorSpec shaped = spec;
        JsonValue shape = object.members().get("shape");
        if (shape != null) {
            shaped = new TensorSpec(spec.name(), spec.datatype(), shape(spec, shape));
        }
        JsonValue content = object.members().get("content");
        JsonValue raw = content instanceof JsonValue.Obj inner
                ? inner.members().get("b64")
                : object.members().get("b64");
        if (raw instanceof JsonValue.Text text) {
            return ofRaw(shaped, text);
        }
        if (content == null || content instanceof JsonValue.Obj) {
            throw file.wrong(object, "'" + spec.name() + "': expected a member 'content' or 'b64'");
        }
        return ofElements(shaped, content, object);
    }

    private Shape shape(TensorSpec spec, JsonValue value) {
        if (!(value instanceof JsonValue.Arr dims)) {
            throw file.wrong(value, "the shape of '" + spec.name() + "': expected an array of numbers");
        }
        long[] given = new long[dims.elements().size()];
        for (int i = 0; i < given.length; i++) {
            BigInteger dim = integer(spec, dims.elements().get(i));
            given[i] = dim.signum() < 0 || dim.bitLength() > 62 ? Shape.OVERFLOW : dim.longValue();
        }
        Shape shape = Shape.of(given);
        Shape whole = batched && shape.rank() == spec.shape().rank() - 1 ? shape.prepend(batch) : shape;
        if (whole.elementCount() < 0 || !spec.shape().accepts(whole)) {
            throw file.wrong(
                    value,
                    "the shape of '" + spec.name() + "' is " + shape + ": expected one that fits the model's "
                            + spec.shape());
        }
        return whole;
    }

    private Tensor ofElements(TensorSpec spec, JsonValue value, JsonValue where) {
        List<JsonValue> leaves = new ArrayList<>();
        flatten(value, leaves);
        if (spec.datatype() == Datatype.BYTES) {
            List<byte[]> strings = new ArrayList<>(leaves.size());
            leaves.forEach(leaf -> strings.add(string(spec, leaf)));
            MemorySegment bytes = arena.allocate(BytesCodec.encodedByteSize(strings), ALIGNMENT);
            BytesCodec.encode(strings, bytes);
            return filled(spec, leaves.size(), bytes, where);
        }
        MemorySegment bytes =
                arena.allocate((long) leaves.size() * spec.datatype().byteSize(), ALIGNMENT);
        for (int i = 0; i < leaves.size(); i++) {
            put(bytes, spec, i, leaves.get(i));
        }
        return filled(spec, leaves.size(), bytes, where);
    }

    private Tensor ofRaw(TensorSpec spec, JsonValue.Text text) {
        byte[] decoded;
        try {
            decoded = Base64.getDecoder().decode(text.value());
        } catch (IllegalArgumentException e) {
            throw file.wrong(text, "'" + spec.name() + "' is not base64: " + e.getMessage());
        }
        MemorySegment bytes = arena.allocate(decoded.length, ALIGNMENT);
        MemorySegment.copy(MemorySegment.ofArray(decoded), 0, bytes, 0, decoded.length);
        if (spec.datatype() == Datatype.BYTES) {
            return ofRawStrings(spec, text, bytes);
        }
        int size = spec.datatype().byteSize();
        if (decoded.length % size != 0) {
            throw file.wrong(
                    text,
                    "'" + spec.name() + "' has " + decoded.length + " bytes: expected a multiple of " + size
                            + ", the size of an element of " + spec.datatype());
        }
        return filled(spec, decoded.length / size, bytes, text);
    }

    /** A single string stands for itself; several come in the protocol's form, each with its length before it. */
    private Tensor ofRawStrings(TensorSpec spec, JsonValue.Text text, MemorySegment bytes) {
        Shape shape = spec.shape();
        long count = shape.elementCount();
        if (count >= 0 && BytesCodec.check(bytes, count) == BytesCodec.Check.Complete.COMPLETE) {
            return new Tensor(spec, bytes);
        }
        MemorySegment one = arena.allocate(BytesCodec.LENGTH_BYTES + bytes.byteSize(), ALIGNMENT);
        BytesCodec.put(one, 0, bytes, 0, bytes.byteSize());
        return filled(spec, 1, one, text);
    }

    /** The tensor over {@code count} elements: all, or those of one element of the batch, which are repeated. */
    private Tensor filled(TensorSpec spec, long count, MemorySegment bytes, JsonValue where) {
        Shape shape = spec.shape();
        if (!shape.isFixed()) {
            shape = inferred(spec, count, where);
        }
        if (shape.elementCount() == count) {
            return new Tensor(new TensorSpec(spec.name(), spec.datatype(), shape), bytes);
        }
        if (batched && shape.rank() > 0 && shape.elementCount(1) == count && shape.dim(0) > 0) {
            MemorySegment repeated = arena.allocate(bytes.byteSize() * shape.dim(0), ALIGNMENT);
            for (long i = 0; i < shape.dim(0); i++) {
                MemorySegment.copy(bytes, 0, repeated, i * bytes.byteSize(), bytes.byteSize());
            }
            return new Tensor(new TensorSpec(spec.name(), spec.datatype(), shape), repeated);
        }
        throw file.wrong(
                where,
                "'" + spec.name() + "' has " + count + " elements: expected " + shape.elementCount()
                        + ", for the shape " + shape);
    }

    /** The shape whose only variable dimension follows from the number of elements. */
    private Shape inferred(TensorSpec spec, long count, JsonValue where) {
        long[] dims = spec.shape().toArray();
        int open = -1;
        long known = 1;
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] != Shape.VARIABLE) {
                known *= dims[i];
            } else if (open < 0) {
                open = i;
            } else {
                throw file.wrong(
                        where,
                        "'" + spec.name() + "' has the shape " + spec.shape()
                                + " in the model, which the number of elements does not settle: write {\"content\":"
                                + " [...], \"shape\": [...]}");
            }
        }
        dims[open] = known == 0 ? 0 : count / known;
        if (batched && dims[open] * known != count * batch && dims[open] * known == count && open > 0 && batch > 1) {
            dims[open] *= batch;
        }
        return Shape.of(dims);
    }

    private void flatten(JsonValue value, List<JsonValue> leaves) {
        if (value instanceof JsonValue.Arr array) {
            array.elements().forEach(element -> flatten(element, leaves));
        } else {
            leaves.add(value);
        }
    }

    private byte[] string(TensorSpec spec, JsonValue leaf) {
        if (leaf instanceof JsonValue.Text text) {
            return text.value().getBytes(StandardCharsets.UTF_8);
        }
        if (leaf instanceof JsonValue.Num number) {
            return number.text().getBytes(StandardCharsets.UTF_8);
        }
        if (leaf instanceof JsonValue.Obj object && object.members().get("b64") instanceof JsonValue.Text text) {
            try {
                return Base64.getDecoder().decode(text.value());
            } catch (IllegalArgumentException e) {
                throw file.wrong(text, "an element of '" + spec.name() + "' is not base64: " + e.getMessage());
            }
        }
        throw wrongElement(spec, leaf, "a string");
    }

    private void put(MemorySegment bytes, TensorSpec spec, long index, JsonValue leaf) {
        Datatype datatype = spec.datatype();
        if (Elements.isFloatingPoint(datatype)) {
            Elements.put(bytes, datatype, index, floatingPoint(spec, leaf));
        } else if (leaf instanceof JsonValue.Bool truth) {
            Elements.putBits(bytes, datatype, index, truth.value() ? 1 : 0);
        } else {
            BigInteger value = integer(spec, leaf);
            if (!isWithin(datatype, value)) {
                throw wrongElement(spec, leaf, "a number that " + datatype + " can hold, got " + value);
            }
            Elements.putBits(bytes, datatype, index, value.longValue());
        }
    }

    private double floatingPoint(TensorSpec spec, JsonValue leaf) {
        if (!(leaf instanceof JsonValue.Num number)) {
            throw wrongElement(spec, leaf, "a number");
        }
        return switch (number.text()) {
            case "INF", "+INF", "Infinity", "+Infinity" -> Double.POSITIVE_INFINITY;
            case "-INF", "-Infinity" -> Double.NEGATIVE_INFINITY;
            case String text -> Double.parseDouble(text);
        };
    }

    private BigInteger integer(TensorSpec spec, JsonValue leaf) {
        if (leaf instanceof JsonValue.Num number) {
            try {
                BigDecimal value = new BigDecimal(number.text());
                if (Math.abs((long) value.scale()) <= 1000) {
                    return value.toBigIntegerExact();
                }
            } catch (ArithmeticException | NumberFormatException e) {
                // Reported below.
            }
        }
        throw wrongElement(spec, leaf, "a whole number");
    }

    private static boolean isWithin(Datatype datatype, BigInteger value) {
        int bits = datatype.byteSize() * Byte.SIZE;
        return switch (datatype) {
            case BOOL -> value.signum() >= 0 && value.bitLength() <= 1;
            case UINT8, UINT16, UINT32, UINT64 -> value.signum() >= 0 && value.bitLength() <= bits;
            case INT8, INT16, INT32, INT64 -> value.bitLength() < bits;
            default -> false;
        };
    }

    private DataException wrongElement(TensorSpec spec, JsonValue leaf, String expected) {
        return file.wrong(
                leaf, "an element of '" + spec.name() + "' does not fit " + spec.datatype() + ": expected " + expected);
    }
}
