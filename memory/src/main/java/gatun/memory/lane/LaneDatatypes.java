// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import gatun.memory.tensor.Datatype;

/** The numbers that stand for datatypes in a slot. They are part of the layout and never change. */
public final class LaneDatatypes {
    private static final Datatype[] BY_NUMBER = {
        Datatype.INVALID,
        Datatype.BOOL,
        Datatype.UINT8,
        Datatype.UINT16,
        Datatype.UINT32,
        Datatype.UINT64,
        Datatype.INT8,
        Datatype.INT16,
        Datatype.INT32,
        Datatype.INT64,
        Datatype.FP16,
        Datatype.BF16,
        Datatype.FP32,
        Datatype.FP64,
        Datatype.BYTES,
        Datatype.COMPLEX64,
        Datatype.COMPLEX128,
        Datatype.QINT8,
        Datatype.QUINT8,
        Datatype.QINT16,
        Datatype.QUINT16,
        Datatype.QINT32,
        Datatype.INT4,
        Datatype.UINT4,
        Datatype.FP8_E5M2,
        Datatype.FP8_E4M3FN
    };

    private LaneDatatypes() {}

    /** The number of a datatype; 0 for {@link Datatype#INVALID}. */
    public static int number(Datatype datatype) {
        return switch (datatype) {
            case INVALID -> 0;
            case BOOL -> 1;
            case UINT8 -> 2;
            case UINT16 -> 3;
            case UINT32 -> 4;
            case UINT64 -> 5;
            case INT8 -> 6;
            case INT16 -> 7;
            case INT32 -> 8;
            case INT64 -> 9;
            case FP16 -> 10;
            case BF16 -> 11;
            case FP32 -> 12;
            case FP64 -> 13;
            case BYTES -> 14;
            case COMPLEX64 -> 15;
            case COMPLEX128 -> 16;
            case QINT8 -> 17;
            case QUINT8 -> 18;
            case QINT16 -> 19;
            case QUINT16 -> 20;
            case QINT32 -> 21;
            case INT4 -> 22;
            case UINT4 -> 23;
            case FP8_E5M2 -> 24;
            case FP8_E4M3FN -> 25;
        };
    }

    /** The datatype of a number; {@link Datatype#INVALID} for one that is none's. */
    public static Datatype of(int number) {
        return number < 0 || number >= BY_NUMBER.length ? Datatype.INVALID : BY_NUMBER[number];
    }
}
