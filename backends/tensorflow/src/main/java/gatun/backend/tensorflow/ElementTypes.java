// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.Datatype;
import gatun.spi.model.EngineTypes;

/** Translates between TensorFlow's element types and {@link Datatype}. */
final class ElementTypes {
    /** No value of {@code TF_DataType}: the C API never gives it. */
    private static final int NONE = 0;

    /** The difference between a type and its twin for references. */
    private static final int REFERENCE = 100;

    private static final EngineTypes TYPES = new EngineTypes(ElementTypes::number);

    private ElementTypes() {}

    /** The datatype of a {@code TF_DataType} or its twin for references, as in old graphs; INVALID for others. */
    static Datatype datatype(int elementType) {
        return TYPES.datatype(elementType > REFERENCE ? elementType - REFERENCE : elementType);
    }

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
            case COMPLEX64 -> tensorflow_h.TF_COMPLEX64();
            case COMPLEX128 -> tensorflow_h.TF_COMPLEX128();
            case QINT8 -> tensorflow_h.TF_QINT8();
            case QUINT8 -> tensorflow_h.TF_QUINT8();
            case QINT16 -> tensorflow_h.TF_QINT16();
            case QUINT16 -> tensorflow_h.TF_QUINT16();
            case QINT32 -> tensorflow_h.TF_QINT32();
            case INT4 -> tensorflow_h.TF_INT4();
            case UINT4 -> tensorflow_h.TF_UINT4();
            case FP8_E5M2 -> tensorflow_h.TF_FLOAT8_E5M2();
            case FP8_E4M3FN -> tensorflow_h.TF_FLOAT8_E4M3FN();
            case INVALID -> NONE;
        };
    }
}
