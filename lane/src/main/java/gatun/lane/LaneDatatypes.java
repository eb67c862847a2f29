// SPDX-License-Identifier: Apache-2.0
package gatun.lane;

import gatun.memory.tensor.Datatype;

/** The numbers that stand for datatypes in a slot. They are part of the layout and never change. */
public final class LaneDatatypes {
    /** By number. */
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
        Datatype.BYTES
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
        };
    }

    /** The datatype of a number; {@link Datatype#INVALID} for one that is none's. */
    public static Datatype of(int number) {
        return number < 0 || number >= BY_NUMBER.length ? Datatype.INVALID : BY_NUMBER[number];
    }
}
