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
    private static final int INT64_VAL = 10;
    private static final int BOOL_VAL = 11;
    private static final int HALF_VAL = 13;
    private static final int UINT32_VAL = 16;
    private static final int UINT64_VAL = 17;

    private TensorTypes() {}

    /** The field of a TensorProto that holds values of that type. */
    static int valueField(Datatype type) {
        return switch (type) {
            case BOOL -> BOOL_VAL;
            case UINT8, UINT16, INT8, INT16, INT32 -> INT_VAL;
            case UINT32 -> UINT32_VAL;
            case UINT64 -> UINT64_VAL;
            case INT64 -> INT64_VAL;
            case FP16, BF16 -> HALF_VAL;
            case FP32 -> FLOAT_VAL;
            case FP64 -> DOUBLE_VAL;
            case BYTES -> STRING_VAL;
            case INVALID -> throw new IllegalArgumentException("INVALID has no values");
        };
    }

    /** How one value of that type is written in its field. */
    static int wireType(Datatype type) {
        return switch (type) {
            case FP32 -> WireReader.FIXED32;
            case FP64 -> WireReader.FIXED64;
            case BYTES -> WireReader.LENGTH_DELIMITED;
            default -> WireReader.VARINT;
        };
    }

    /** Whether the values of a field lie in the message as the elements of a tensor do. */
    static boolean liesAsElements(int field) {
        return field == TENSOR_CONTENT || field == FLOAT_VAL || field == DOUBLE_VAL;
    }
}
