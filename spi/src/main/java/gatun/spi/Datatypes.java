// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.Datatype;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelSequenceBatching.Control;

/** Translates between the datatypes of a model's configuration and those of tensors. */
public final class Datatypes {
    private Datatypes() {}

    /** The datatype that a configuration names; {@link Datatype#INVALID} where it names none. */
    public static Datatype of(DataType configured) {
        return switch (configured) {
            case TYPE_BOOL -> Datatype.BOOL;
            case TYPE_UINT8 -> Datatype.UINT8;
            case TYPE_UINT16 -> Datatype.UINT16;
            case TYPE_UINT32 -> Datatype.UINT32;
            case TYPE_UINT64 -> Datatype.UINT64;
            case TYPE_INT8 -> Datatype.INT8;
            case TYPE_INT16 -> Datatype.INT16;
            case TYPE_INT32 -> Datatype.INT32;
            case TYPE_INT64 -> Datatype.INT64;
            case TYPE_FP16 -> Datatype.FP16;
            case TYPE_BF16 -> Datatype.BF16;
            case TYPE_FP32 -> Datatype.FP32;
            case TYPE_FP64 -> Datatype.FP64;
            case TYPE_STRING -> Datatype.BYTES;
            case TYPE_COMPLEX64 -> Datatype.COMPLEX64;
            case TYPE_COMPLEX128 -> Datatype.COMPLEX128;
            case TYPE_QINT8 -> Datatype.QINT8;
            case TYPE_QUINT8 -> Datatype.QUINT8;
            case TYPE_QINT16 -> Datatype.QINT16;
            case TYPE_QUINT16 -> Datatype.QUINT16;
            case TYPE_QINT32 -> Datatype.QINT32;
            case TYPE_INT4 -> Datatype.INT4;
            case TYPE_UINT4 -> Datatype.UINT4;
            case TYPE_FP8_E5M2 -> Datatype.FP8_E5M2;
            case TYPE_FP8_E4M3FN -> Datatype.FP8_E4M3FN;
            case TYPE_INVALID, UNRECOGNIZED -> Datatype.INVALID;
        };
    }

    /** The datatype of the tensor that carries a sequence's control; its configuration has been checked. */
    public static Datatype ofControl(Control control) {
        if (control.getKind() == Control.Kind.CONTROL_SEQUENCE_CORRID) {
            return of(control.getDataType());
        }
        if (control.getInt32FalseTrueCount() > 0) {
            return Datatype.INT32;
        }
        return control.getFp32FalseTrueCount() > 0 ? Datatype.FP32 : Datatype.BOOL;
    }

    /** How a configuration names {@code datatype}. */
    public static DataType configured(Datatype datatype) {
        return switch (datatype) {
            case BOOL -> DataType.TYPE_BOOL;
            case UINT8 -> DataType.TYPE_UINT8;
            case UINT16 -> DataType.TYPE_UINT16;
            case UINT32 -> DataType.TYPE_UINT32;
            case UINT64 -> DataType.TYPE_UINT64;
            case INT8 -> DataType.TYPE_INT8;
            case INT16 -> DataType.TYPE_INT16;
            case INT32 -> DataType.TYPE_INT32;
            case INT64 -> DataType.TYPE_INT64;
            case FP16 -> DataType.TYPE_FP16;
            case BF16 -> DataType.TYPE_BF16;
            case FP32 -> DataType.TYPE_FP32;
            case FP64 -> DataType.TYPE_FP64;
            case BYTES -> DataType.TYPE_STRING;
            case COMPLEX64 -> DataType.TYPE_COMPLEX64;
            case COMPLEX128 -> DataType.TYPE_COMPLEX128;
            case QINT8 -> DataType.TYPE_QINT8;
            case QUINT8 -> DataType.TYPE_QUINT8;
            case QINT16 -> DataType.TYPE_QINT16;
            case QUINT16 -> DataType.TYPE_QUINT16;
            case QINT32 -> DataType.TYPE_QINT32;
            case INT4 -> DataType.TYPE_INT4;
            case UINT4 -> DataType.TYPE_UINT4;
            case FP8_E5M2 -> DataType.TYPE_FP8_E5M2;
            case FP8_E4M3FN -> DataType.TYPE_FP8_E4M3FN;
            case INVALID -> DataType.TYPE_INVALID;
        };
    }
}
