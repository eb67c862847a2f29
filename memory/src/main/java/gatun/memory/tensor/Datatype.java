// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

/**
 * The type of a tensor's elements, named as the v2 protocol names it. Elements are little endian and without padding;
 * a BYTES element is a 4-byte length followed by that many bytes. The v2 protocol has no names for those from
 * {@link #COMPLEX64} on, which TensorFlow's models have; in it they have the names given here and only a binary form.
 */
public enum Datatype {
    /** One byte, 0 or 1. */
    BOOL(1),
    /** Unsigned 8 bits. */
    UINT8(1),
    /** Unsigned 16 bits. */
    UINT16(2),
    /** Unsigned 32 bits. */
    UINT32(4),
    /** Unsigned 64 bits. */
    UINT64(8),
    /** Signed 8 bits. */
    INT8(1),
    /** Signed 16 bits. */
    INT16(2),
    /** Signed 32 bits. */
    INT32(4),
    /** Signed 64 bits. */
    INT64(8),
    /** IEEE 754 half precision. */
    FP16(2),
    /** The upper half of an IEEE 754 single. */
    BF16(2),
    /** IEEE 754 single precision. */
    FP32(4),
    /** IEEE 754 double precision. */
    FP64(8),
    /** Strings or any bytes, of variable length. */
    BYTES(0),
    /** Two singles: the real and the imaginary part. */
    COMPLEX64(8),
    /** Two doubles: the real and the imaginary part. */
    COMPLEX128(16),
    /** Quantised, signed 8 bits. */
    QINT8(1),
    /** Quantised, unsigned 8 bits. */
    QUINT8(1),
    /** Quantised, signed 16 bits. */
    QINT16(2),
    /** Quantised, unsigned 16 bits. */
    QUINT16(2),
    /** Quantised, signed 32 bits. */
    QINT32(4),
    /** Signed 4 bits, in the low half of a byte. */
    INT4(1),
    /** Unsigned 4 bits, in the low half of a byte. */
    UINT4(1),
    /** 8 bits, of which 5 are the exponent and 2 the fraction. */
    FP8_E5M2(1),
    /** 8 bits, of which 4 are the exponent and 3 the fraction, without infinities. */
    FP8_E4M3FN(1),
    /** Stands for a text that names no datatype; no model has it, so every check refuses it. */
    INVALID(0);

    private final int byteSize;

    Datatype(int byteSize) {
        this.byteSize = byteSize;
    }

    /** Bytes of one element; 0 for {@link #BYTES}, whose elements vary, and for {@link #INVALID}. */
    public int byteSize() {
        return byteSize;
    }

    /** Whether every element has the same size. */
    public boolean isFixedSize() {
        return byteSize > 0;
    }

    /** The name on the wire; {@code <invalid>} for {@link #INVALID}. */
    public String wireName() {
        return this == INVALID ? "<invalid>" : name();
    }

    /** The datatype of that name on the wire, matched by case; {@link #INVALID} when there is none. */
    public static Datatype of(String wireName) {
        return switch (wireName) {
            case "BOOL" -> BOOL;
            case "UINT8" -> UINT8;
            case "UINT16" -> UINT16;
            case "UINT32" -> UINT32;
            case "UINT64" -> UINT64;
            case "INT8" -> INT8;
            case "INT16" -> INT16;
            case "INT32" -> INT32;
            case "INT64" -> INT64;
            case "FP16" -> FP16;
            case "BF16" -> BF16;
            case "FP32" -> FP32;
            case "FP64" -> FP64;
            case "BYTES" -> BYTES;
            case "COMPLEX64" -> COMPLEX64;
            case "COMPLEX128" -> COMPLEX128;
            case "QINT8" -> QINT8;
            case "QUINT8" -> QUINT8;
            case "QINT16" -> QINT16;
            case "QUINT16" -> QUINT16;
            case "QINT32" -> QINT32;
            case "INT4" -> INT4;
            case "UINT4" -> UINT4;
            case "FP8_E5M2" -> FP8_E5M2;
            case "FP8_E4M3FN" -> FP8_E4M3FN;
            default -> INVALID;
        };
    }
}
