package gatun.grpc.tensorflow;

import gatun.grpc.message.WireReader;
import gatun.memory.Datatype;
import gatun.protocol.tensorflow.DataType;

/** TensorFlow's datatypes: which of ours each is, and which field of a TensorProto holds its values. */
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

    /** Ours for one of TensorFlow's; INVALID for those that are only TensorFlow's. */
    static Datatype datatype(DataType type) {
        return switch (type) {
            case DT_BOOL -> Datatype.BOOL;
            case DT_UINT8 -> Datatype.UINT8;
            case DT_UINT16 -> Datatype.UINT16;
            case DT_UINT32 -> Datatype.UINT32;
            case DT_UINT64 -> Datatype.UINT64;
            case DT_INT8 -> Datatype.INT8;
            case DT_INT16 -> Datatype.INT16;
            case DT_INT32 -> Datatype.INT32;
            case DT_INT64 -> Datatype.INT64;
            case DT_HALF -> Datatype.FP16;
            case DT_BFLOAT16 -> Datatype.BF16;
            case DT_FLOAT -> Datatype.FP32;
            case DT_DOUBLE -> Datatype.FP64;
            case DT_STRING -> Datatype.BYTES;
            default -> Datatype.INVALID;
        };
    }

    /** TensorFlow's for one of ours. */
    static DataType dataType(Datatype type) {
        return switch (type) {
            case BOOL -> DataType.DT_BOOL;
            case UINT8 -> DataType.DT_UINT8;
            case UINT16 -> DataType.DT_UINT16;
            case UINT32 -> DataType.DT_UINT32;
            case UINT64 -> DataType.DT_UINT64;
            case INT8 -> DataType.DT_INT8;
            case INT16 -> DataType.DT_INT16;
            case INT32 -> DataType.DT_INT32;
            case INT64 -> DataType.DT_INT64;
            case FP16 -> DataType.DT_HALF;
            case BF16 -> DataType.DT_BFLOAT16;
            case FP32 -> DataType.DT_FLOAT;
            case FP64 -> DataType.DT_DOUBLE;
            case BYTES -> DataType.DT_STRING;
            case INVALID -> DataType.DT_INVALID;
        };
    }

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
