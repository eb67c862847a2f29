package gatun.http.tensorflow;

import gatun.memory.Datatype;

/** What TensorFlow calls datatypes. */
final class TypeNames {
    private TypeNames() {}

    /** As messages call it, such as {@code float}. */
    static String inMessages(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> "bool";
            case UINT8 -> "uint8";
            case UINT16 -> "uint16";
            case UINT32 -> "uint32";
            case UINT64 -> "uint64";
            case INT8 -> "int8";
            case INT16 -> "int16";
            case INT32 -> "int32";
            case INT64 -> "int64";
            case FP16 -> "half";
            case BF16 -> "bfloat16";
            case FP32 -> "float";
            case FP64 -> "double";
            case BYTES -> "string";
            case INVALID -> "invalid";
        };
    }

    /** As metadata calls it, such as {@code DT_FLOAT}. */
    static String inMetadata(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> "DT_BOOL";
            case UINT8 -> "DT_UINT8";
            case UINT16 -> "DT_UINT16";
            case UINT32 -> "DT_UINT32";
            case UINT64 -> "DT_UINT64";
            case INT8 -> "DT_INT8";
            case INT16 -> "DT_INT16";
            case INT32 -> "DT_INT32";
            case INT64 -> "DT_INT64";
            case FP16 -> "DT_HALF";
            case BF16 -> "DT_BFLOAT16";
            case FP32 -> "DT_FLOAT";
            case FP64 -> "DT_DOUBLE";
            case BYTES -> "DT_STRING";
            case INVALID -> "DT_INVALID";
        };
    }
}
