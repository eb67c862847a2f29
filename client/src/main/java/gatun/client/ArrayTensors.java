// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ElementValues;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Tensors from Java's arrays, and back. A tensor that is made here shows the array itself, which is read when a request
 * is sent; arrays that come out are copies. Stateless and safe for any thread.
 */
public final class ArrayTensors {
    static {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new UnsupportedOperationException("tensors are little endian, and this machine is not");
        }
    }

    private ArrayTensors() {}

    /** An FP32 tensor; without dimensions it has one, the array's length. */
    public static Tensor of(String name, float[] values, long... shape) {
        return of(name, Datatype.FP32, MemorySegment.ofArray(values), values.length, shape);
    }

    /**
     * A tensor of floating-point numbers. Elements of FP16 and BF16 are converted now, to the nearest, and to an even
     * last digit between two: the array is not looked at again.
     *
     * @param datatype FP32, FP16 or BF16
     */
    public static Tensor of(String name, Datatype datatype, float[] values, long... shape) {
        return switch (datatype) {
            case FP32 -> of(name, values, shape);
            case FP16, BF16 ->
                of(name, datatype, MemorySegment.ofArray(halves(datatype, values)), values.length, shape);
            default ->
                throw new IllegalArgumentException("tensor '" + name + "' of datatype " + datatype
                        + " was given a float[]: expected FP32, FP16 or BF16");
        };
    }

    /** An FP64 tensor. */
    public static Tensor of(String name, double[] values, long... shape) {
        return of(name, Datatype.FP64, MemorySegment.ofArray(values), values.length, shape);
    }

    /** An INT32 tensor. */
    public static Tensor of(String name, int[] values, long... shape) {
        return of(name, Datatype.INT32, MemorySegment.ofArray(values), values.length, shape);
    }

    /** An INT64 tensor. */
    public static Tensor of(String name, long[] values, long... shape) {
        return of(name, Datatype.INT64, MemorySegment.ofArray(values), values.length, shape);
    }

    /** An INT16 tensor. */
    public static Tensor of(String name, short[] values, long... shape) {
        return of(name, Datatype.INT16, MemorySegment.ofArray(values), values.length, shape);
    }

    /** A BOOL tensor. */
    public static Tensor of(String name, boolean[] values, long... shape) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) (values[i] ? 1 : 0);
        }
        return of(name, Datatype.BOOL, MemorySegment.ofArray(bytes), values.length, shape);
    }

    /** A BYTES tensor of texts in UTF-8. */
    public static Tensor of(String name, String[] values, long... shape) {
        List<String> texts = List.of(values);
        byte[] bytes = new byte[Math.toIntExact(BytesCodec.encodedTextByteSize(texts))];
        MemorySegment raw = MemorySegment.ofArray(bytes);
        BytesCodec.encodeText(texts, raw);
        return of(name, Datatype.BYTES, raw, values.length, shape);
    }

    /**
     * A tensor of a datatype that Java has no type for, or of raw bytes.
     *
     * @param values the elements as they lie in memory, little endian; for BYTES each with its length before it
     */
    public static Tensor of(String name, Datatype datatype, byte[] values, long... shape) {
        return checked(new TensorSpec(name, datatype, Shape.of(shape)), MemorySegment.ofArray(values));
    }

    /** A tensor over memory that the caller owns, on the heap or not, of exactly the tensor's size. */
    public static Tensor of(String name, Datatype datatype, MemorySegment bytes, long... shape) {
        return checked(new TensorSpec(name, datatype, Shape.of(shape)), bytes);
    }

    /** The elements of an FP32 tensor, or the values of those of an FP16 or BF16 one. */
    public static float[] floats(Tensor tensor) {
        MemorySegment bytes = expect(tensor, "floats()", Datatype.FP32, Datatype.FP16, Datatype.BF16);
        if (tensor.spec().datatype() == Datatype.FP32) {
            return bytes.toArray(ElementLayouts.FP32);
        }
        boolean half = tensor.spec().datatype() == Datatype.FP16;
        float[] values = new float[Math.toIntExact(bytes.byteSize() / Short.BYTES)];
        for (int i = 0; i < values.length; i++) {
            short bits = bytes.getAtIndex(ElementLayouts.INT16, i);
            values[i] = half ? Float.float16ToFloat(bits) : ElementValues.fromBfloat16(bits);
        }
        return values;
    }

    /** The bits of FP16 or BF16 elements. */
    static short[] halves(Datatype datatype, float... values) {
        short[] bits = new short[values.length];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = datatype == Datatype.FP16 ? Float.floatToFloat16(values[i]) : ElementValues.toBfloat16(values[i]);
        }
        return bits;
    }

    /** The elements of an FP64 tensor. */
    public static double[] doubles(Tensor tensor) {
        return expect(tensor, "doubles()", Datatype.FP64).toArray(ElementLayouts.FP64);
    }

    /** The elements of an INT32 tensor, or the bits of a UINT32 one. */
    public static int[] ints(Tensor tensor) {
        return expect(tensor, "ints()", Datatype.INT32, Datatype.UINT32).toArray(ElementLayouts.INT32);
    }

    /** The elements of an INT64 tensor, or the bits of a UINT64 one. */
    public static long[] longs(Tensor tensor) {
        return expect(tensor, "longs()", Datatype.INT64, Datatype.UINT64).toArray(ElementLayouts.INT64);
    }

    /** The elements of an INT16 tensor, or the bits of a UINT16, FP16 or BF16 one. */
    public static short[] shorts(Tensor tensor) {
        return expect(tensor, "shorts()", Datatype.INT16, Datatype.UINT16, Datatype.FP16, Datatype.BF16)
                .toArray(ElementLayouts.INT16);
    }

    /** The bytes of any tensor as they lie in memory. */
    public static byte[] bytes(Tensor tensor) {
        return tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
    }

    /** The elements of a BOOL tensor. */
    public static boolean[] booleans(Tensor tensor) {
        MemorySegment bytes = expect(tensor, "booleans()", Datatype.BOOL);
        boolean[] values = new boolean[Math.toIntExact(bytes.byteSize())];
        for (int i = 0; i < values.length; i++) {
            values[i] = bytes.get(ValueLayout.JAVA_BYTE, i) != 0;
        }
        return values;
    }

    /** The elements of a BYTES tensor as texts; bytes that are not UTF-8 become replacement characters. */
    public static List<String> strings(Tensor tensor) {
        MemorySegment raw = expect(tensor, "strings()", Datatype.BYTES);
        List<String> texts = new ArrayList<>();
        BytesCodec.forEach(raw, (offset, byteSize) -> texts.add(BytesCodec.text(raw, offset, byteSize)));
        return texts;
    }

    /** The tensor over {@code bytes}. Throws {@link IllegalArgumentException} when their size is not the tensor's. */
    static Tensor checked(TensorSpec spec, MemorySegment bytes) {
        long expected = spec.shape().byteSize(spec.datatype());
        String what = "tensor '" + spec.name() + "' " + spec.datatype() + " " + spec.shape();
        if (expected == Shape.OVERFLOW || !spec.shape().isFixed() || spec.datatype() == Datatype.INVALID) {
            throw new IllegalArgumentException(
                    what + ": expected a datatype of the protocol, and dimensions of 0 or more");
        }
        if (spec.datatype().isFixedSize() && bytes.byteSize() != expected) {
            String how = bytes.byteSize() < expected ? "too small" : "too large";
            throw new IllegalArgumentException(
                    what + ": the segment is " + how + ", it has " + bytes.byteSize() + " bytes: expected " + expected);
        }
        return new Tensor(spec, bytes);
    }

    private static Tensor of(String name, Datatype datatype, MemorySegment bytes, long count, long... shape) {
        Shape dims = shape.length == 0 ? Shape.of(count) : Shape.of(shape);
        if (dims.elementCount() != count) {
            throw new IllegalArgumentException("tensor '" + name + "' " + datatype + " " + dims + ": the array has "
                    + count + " elements: expected " + dims.elementCount());
        }
        return new Tensor(new TensorSpec(name, datatype, dims), bytes);
    }

    private static MemorySegment expect(Tensor tensor, String asked, Datatype... datatypes) {
        Datatype actual = tensor.spec().datatype();
        for (Datatype datatype : datatypes) {
            if (datatype == actual) {
                return tensor.bytes();
            }
        }
        throw new IllegalArgumentException("tensor '" + tensor.spec().name() + "' has the datatype " + actual
                + ", which " + asked + " does not give: " + advice(actual));
    }

    private static String advice(Datatype actual) {
        return switch (actual) {
            case FP32, FP16, BF16 -> "use floats()";
            case FP64 -> "use doubles()";
            case INT32, UINT32 -> "use ints()";
            case INT64, UINT64 -> "use longs()";
            case INT16, UINT16 -> "use shorts()";
            case BOOL -> "use booleans()";
            case BYTES -> "use strings()";
            case INT8, UINT8, INVALID -> "use bytes()";
            default -> "use the tensor's own bytes()";
        };
    }
}
