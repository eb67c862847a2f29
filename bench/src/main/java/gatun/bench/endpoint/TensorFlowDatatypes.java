// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.memory.tensor.Datatype;
import gatun.wire.tensorflow.DataType;

/** TensorFlow's names of datatypes. */
final class TensorFlowDatatypes {
    private TensorFlowDatatypes() {}

    /** TensorFlow's datatype for {@code datatype}; DT_INVALID for those that the tool cannot send. */
    static DataType of(Datatype datatype) {
        return switch (datatype) {
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
            default -> DataType.DT_INVALID;
        };
    }

    /** The datatype of that name, such as {@code DT_FLOAT}; INVALID for those that the tool cannot send. */
    static Datatype of(String name) {
        for (Datatype datatype : Datatype.values()) {
            DataType own = of(datatype);
            if (own != DataType.DT_INVALID && own.name().equals(name)) {
                return datatype;
            }
        }
        return Datatype.INVALID;
    }
}
