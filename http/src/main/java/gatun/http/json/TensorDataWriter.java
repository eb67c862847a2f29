// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;

/** Writes the elements of a tensor as a flat JSON array, without an object per element. */
public final class TensorDataWriter {

    private TensorDataWriter() {}

    /** Writes the array in brackets; FP32 as doubles. Throws INVALID_ARGUMENT for datatypes without a form in JSON. */
    public static void write(JsonWriter json, Datatype datatype, MemorySegment elements) {
        json.raw('[');
        writeElements(json, datatype, elements);
        json.raw(']');
    }

    /** Throws as {@link #write} for a datatype without a form, before callers send the beginning of a text. */
    public static void requireForm(Datatype datatype) {
        switch (datatype) {
            default ->
                throw GatunException.invalidArgument("sending " + datatype.wireName()
                        + " data via JSON is not supported. Please use the binary data format for output");
            case BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64, BYTES -> {
                // These have a form.
            }
        }
    }

    /** Writes the elements with commas between them and no brackets. Throws as {@link #write}. */
    public static void writeElements(JsonWriter json, Datatype datatype, MemorySegment elements) {
        long end = elements.byteSize();
        long step = datatype.byteSize();
        switch (datatype) {
            case BOOL -> {
                for (long at = 0; at < end; at += step) {
                    json.bool(elements.get(JAVA_BYTE, at) != 0).raw(',');
                }
            }
            case INT8 -> {
                for (long at = 0; at < end; at += step) {
                    json.signed(elements.get(JAVA_BYTE, at)).raw(',');
                }
            }
            case INT16 -> {
                for (long at = 0; at < end; at += step) {
                    json.signed(elements.get(ElementLayouts.INT16, at)).raw(',');
                }
            }
            case INT32 -> {
                for (long at = 0; at < end; at += step) {
                    json.signed(elements.get(ElementLayouts.INT32, at)).raw(',');
                }
            }
            case INT64 -> {
                for (long at = 0; at < end; at += step) {
                    json.signed(elements.get(ElementLayouts.INT64, at)).raw(',');
                }
            }
            case UINT8 -> {
                for (long at = 0; at < end; at += step) {
                    json.unsigned(Byte.toUnsignedLong(elements.get(JAVA_BYTE, at)))
                            .raw(',');
                }
            }
            case UINT16 -> {
                for (long at = 0; at < end; at += step) {
                    json.unsigned(Short.toUnsignedLong(elements.get(ElementLayouts.INT16, at)))
                            .raw(',');
                }
            }
            case UINT32 -> {
                for (long at = 0; at < end; at += step) {
                    json.unsigned(Integer.toUnsignedLong(elements.get(ElementLayouts.INT32, at)))
                            .raw(',');
                }
            }
            case UINT64 -> {
                for (long at = 0; at < end; at += step) {
                    json.unsigned(elements.get(ElementLayouts.INT64, at)).raw(',');
                }
            }
            case FP32 -> {
                for (long at = 0; at < end; at += step) {
                    json.fp64(elements.get(ElementLayouts.FP32, at)).raw(',');
                }
            }
            case FP64 -> {
                for (long at = 0; at < end; at += step) {
                    json.fp64(elements.get(ElementLayouts.FP64, at)).raw(',');
                }
            }
            case BYTES -> writeStrings(json, elements);
            default -> requireForm(datatype);
        }
        if (end > 0) {
            json.dropLast();
        }
    }

    private static void writeStrings(JsonWriter json, MemorySegment elements) {
        long end = elements.byteSize();
        long at = 0;
        while (at < end) {
            long byteSize = BytesCodec.elementByteSize(elements, at);
            json.string(elements, at + BytesCodec.LENGTH_BYTES, byteSize).raw(',');
            at += BytesCodec.LENGTH_BYTES + byteSize;
        }
    }
}
