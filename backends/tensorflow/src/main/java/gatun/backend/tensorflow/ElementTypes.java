// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.backend.support.EngineTypes;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.Datatype;

/** Translates between TensorFlow's element types and {@link Datatype}. */
final class ElementTypes {
    /** No value of {@code TF_DataType}: the C API never gives it. */
    private static final int NONE = 0;

    private static final EngineTypes TYPES = new EngineTypes(ElementTypes::number);

    private ElementTypes() {}

    /**
     * The datatype for a value of {@code TF_DataType}, also as protobuf has it; INVALID for those that no protocol can
     * carry.
     */
    static Datatype datatype(int elementType) {
        return TYPES.datatype(elementType);
    }

    /** The value of {@code TF_DataType} for a datatype. */
    static int elementType(Datatype datatype) {
        return TYPES.number(datatype);
    }

    private static int number(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> tensorflow_h.TF_BOOL();
            case UINT8 -> tensorflow_h.TF_UINT8();
            case UINT16 -> tensorflow_h.TF_UINT16();
            case UINT32 -> tensorflow_h.TF_UINT32();
            case UINT64 -> tensorflow_h.TF_UINT64();
            case INT8 -> tensorflow_h.TF_INT8();
            case INT16 -> tensorflow_h.TF_INT16();
            case INT32 -> tensorflow_h.TF_INT32();
            case INT64 -> tensorflow_h.TF_INT64();
            case FP16 -> tensorflow_h.TF_HALF();
            case BF16 -> tensorflow_h.TF_BFLOAT16();
            case FP32 -> tensorflow_h.TF_FLOAT();
            case FP64 -> tensorflow_h.TF_DOUBLE();
            case BYTES -> tensorflow_h.TF_STRING();
            case INVALID -> NONE;
        };
    }
}
