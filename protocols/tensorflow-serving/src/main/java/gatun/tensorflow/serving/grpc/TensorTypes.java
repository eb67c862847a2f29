// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.WireReader;
import gatun.memory.tensor.Datatype;

/** TensorFlow's datatypes: which field of a TensorProto holds its values. */
final class TensorTypes {
    // Field numbers of TensorProto.
    static final int DTYPE = 1;
    static final int TENSOR_SHAPE = 2;
    static final int TENSOR_CONTENT = 4;
    private static final int FLOAT_VAL = 5;
    private static final int DOUBLE_VAL = 6;
    private static final int INT_VAL = 7;
    static final int STRING_VAL = 8;
    private static final int SCOMPLEX_VAL = 9;
    private static final int INT64_VAL = 10;
    private static final int BOOL_VAL = 11;
    private static final int DCOMPLEX_VAL = 12;
    private static final int HALF_VAL = 13;
    private static final int UINT32_VAL = 16;
    private static final int UINT64_VAL = 17;
    private static final int FLOAT8_VAL = 18;

    private TensorTypes() {}

    static int valueField(Datatype type) {
        return switch (type) {
            case BOOL -> BOOL_VAL;
            case UINT8, UINT16, INT8, INT16, INT32, QINT8, QUINT8, QINT16, QUINT16, QINT32, INT4, UINT4 -> INT_VAL;
            case UINT32 -> UINT32_VAL;
            case UINT64 -> UINT64_VAL;
            case INT64 -> INT64_VAL;
            case FP16, BF16 -> HALF_VAL;
            case FP32 -> FLOAT_VAL;
            case FP64 -> DOUBLE_VAL;
            case COMPLEX64 -> SCOMPLEX_VAL;
            case COMPLEX128 -> DCOMPLEX_VAL;
            case FP8_E5M2, FP8_E4M3FN -> FLOAT8_VAL;
            case BYTES -> STRING_VAL;
            case INVALID -> throw new IllegalArgumentException("INVALID has no values");
        };
    }

    static int wireType(Datatype type) {
        return switch (type) {
            case FP32, COMPLEX64 -> WireReader.FIXED32;
            case FP64, COMPLEX128 -> WireReader.FIXED64;
            case BYTES, FP8_E5M2, FP8_E4M3FN -> WireReader.LENGTH_DELIMITED;
            default -> WireReader.VARINT;
        };
    }

    static Datatype part(Datatype type) {
        return switch (type) {
            case COMPLEX64 -> Datatype.FP32;
            case COMPLEX128 -> Datatype.FP64;
            default -> type;
        };
    }

    /** Whether all values of that type are the bytes of one field, which may not be repeated. */
    static boolean isInOnePiece(Datatype type) {
        return valueField(type) == FLOAT8_VAL;
    }

    static boolean liesAsElements(Datatype type) {
        return liesAsElements(valueField(type));
    }

    static boolean liesAsElements(int field) {
        return switch (field) {
            case TENSOR_CONTENT, FLOAT_VAL, DOUBLE_VAL, SCOMPLEX_VAL, DCOMPLEX_VAL, FLOAT8_VAL -> true;
            default -> false;
        };
    }
}
