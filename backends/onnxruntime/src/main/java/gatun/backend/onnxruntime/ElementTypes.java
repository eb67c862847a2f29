// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.memory.tensor.Datatype;
import gatun.spi.model.EngineTypes;

/** Translates between ONNX Runtime's element types and {@link Datatype}. */
final class ElementTypes {
    private static final EngineTypes TYPES = new EngineTypes(ElementTypes::number);

    private ElementTypes() {}

    /** The datatype for a value of {@code ONNXTensorElementDataType}; INVALID for those that no protocol can carry. */
    static Datatype datatype(int elementType) {
        return TYPES.datatype(elementType);
    }

    static int elementType(Datatype datatype) {
        return TYPES.number(datatype);
    }

    private static int number(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL();
            case UINT8 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8();
            case UINT16 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16();
            case UINT32 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32();
            case UINT64 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64();
            case INT8 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8();
            case INT16 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16();
            case INT32 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32();
            case INT64 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64();
            case FP16 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16();
            case BF16 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16();
            case FP32 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT();
            case FP64 -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE();
            case BYTES -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING();
            default -> onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED();
        };
    }
}
