// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.Datatype;
import gatun.wire.tensorflow.DataType;
import java.util.Locale;

/** Translates between TensorFlow's datatypes and ours. */
public final class DataTypes {
    private static final String PREFIX = "DT_";

    private DataTypes() {}

    /** Ours for one of TensorFlow's; INVALID for those that are only TensorFlow's. */
    public static Datatype datatype(DataType type) {
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
            case DT_COMPLEX64 -> Datatype.COMPLEX64;
            case DT_COMPLEX128 -> Datatype.COMPLEX128;
            case DT_QINT8 -> Datatype.QINT8;
            case DT_QUINT8 -> Datatype.QUINT8;
            case DT_QINT16 -> Datatype.QINT16;
            case DT_QUINT16 -> Datatype.QUINT16;
            case DT_QINT32 -> Datatype.QINT32;
            case DT_INT4 -> Datatype.INT4;
            case DT_UINT4 -> Datatype.UINT4;
            case DT_FLOAT8_E5M2 -> Datatype.FP8_E5M2;
            case DT_FLOAT8_E4M3FN -> Datatype.FP8_E4M3FN;
            default -> Datatype.INVALID;
        };
    }

    /** TensorFlow's for one of ours. */
    public static DataType of(Datatype type) {
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
            case COMPLEX64 -> DataType.DT_COMPLEX64;
            case COMPLEX128 -> DataType.DT_COMPLEX128;
            case QINT8 -> DataType.DT_QINT8;
            case QUINT8 -> DataType.DT_QUINT8;
            case QINT16 -> DataType.DT_QINT16;
            case QUINT16 -> DataType.DT_QUINT16;
            case QINT32 -> DataType.DT_QINT32;
            case INT4 -> DataType.DT_INT4;
            case UINT4 -> DataType.DT_UINT4;
            case FP8_E5M2 -> DataType.DT_FLOAT8_E5M2;
            case FP8_E4M3FN -> DataType.DT_FLOAT8_E4M3FN;
            case INVALID -> DataType.DT_INVALID;
        };
    }

    /** The name of one of our datatypes in messages, such as {@code float}. */
    public static String shortName(Datatype type) {
        return shortName(of(type));
    }

    /** The name of one of TensorFlow's datatypes in messages. */
    public static String shortName(DataType type) {
        return type.name().substring(PREFIX.length()).toLowerCase(Locale.ROOT);
    }
}
