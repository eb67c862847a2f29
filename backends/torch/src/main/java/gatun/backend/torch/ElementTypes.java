// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.torch.torch_h;
import gatun.memory.tensor.Datatype;
import gatun.spi.model.EngineTypes;
import java.util.Map;

/** Translates between PyTorch's element types and {@link Datatype}. */
final class ElementTypes {
    /** No number of PyTorch's. */
    private static final int NONE = -1;

    /** The numbers, asked of the library when the first is needed. */
    private static final class Numbers {
        static final EngineTypes ALL = new EngineTypes(ElementTypes::ask);
    }

    /** As the functions that give the numbers are called. */
    private static final Map<String, Datatype> NAMES = Map.ofEntries(
            Map.entry("bool", Datatype.BOOL),
            Map.entry("uint8", Datatype.UINT8),
            Map.entry("uint16", Datatype.UINT16),
            Map.entry("uint32", Datatype.UINT32),
            Map.entry("uint64", Datatype.UINT64),
            Map.entry("int8", Datatype.INT8),
            Map.entry("int16", Datatype.INT16),
            Map.entry("int32", Datatype.INT32),
            Map.entry("int64", Datatype.INT64),
            Map.entry("float16", Datatype.FP16),
            Map.entry("bfloat16", Datatype.BF16),
            Map.entry("float32", Datatype.FP32),
            Map.entry("float64", Datatype.FP64));

    private ElementTypes() {}

    /** The datatype for a number of PyTorch's, whose library is open; INVALID for those that no protocol can carry. */
    static Datatype datatype(int elementType) {
        return Numbers.ALL.datatype(elementType);
    }

    /** PyTorch's number, whose library is open, for a datatype that it has. */
    static int number(Datatype datatype) {
        return Numbers.ALL.number(datatype);
    }

    static boolean has(Datatype datatype) {
        return NAMES.containsValue(datatype);
    }

    /** The datatype that is called so in PyTorch's source code, such as {@code float32}; INVALID for others. */
    static Datatype named(String name) {
        return NAMES.getOrDefault(name, Datatype.INVALID);
    }

    private static int ask(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> torch_h.aoti_torch_dtype_bool();
            case UINT8 -> torch_h.aoti_torch_dtype_uint8();
            case UINT16 -> torch_h.aoti_torch_dtype_uint16();
            case UINT32 -> torch_h.aoti_torch_dtype_uint32();
            case UINT64 -> torch_h.aoti_torch_dtype_uint64();
            case INT8 -> torch_h.aoti_torch_dtype_int8();
            case INT16 -> torch_h.aoti_torch_dtype_int16();
            case INT32 -> torch_h.aoti_torch_dtype_int32();
            case INT64 -> torch_h.aoti_torch_dtype_int64();
            case FP16 -> torch_h.aoti_torch_dtype_float16();
            case BF16 -> torch_h.aoti_torch_dtype_bfloat16();
            case FP32 -> torch_h.aoti_torch_dtype_float32();
            case FP64 -> torch_h.aoti_torch_dtype_float64();
            default -> NONE;
        };
    }
}
