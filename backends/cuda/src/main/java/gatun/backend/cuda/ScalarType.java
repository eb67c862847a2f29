// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** The types of C that a kernel's parameter may have when it is a number. */
enum ScalarType {
    /** {@code signed char}. */
    INT8("int8", Byte.MIN_VALUE, Byte.MAX_VALUE),
    /** {@code unsigned char}. */
    UINT8("uint8", 0, 255),
    /** {@code short}. */
    INT16("int16", Short.MIN_VALUE, Short.MAX_VALUE),
    /** {@code unsigned short}. */
    UINT16("uint16", 0, 65535),
    /** {@code int}. */
    INT32("int32", Integer.MIN_VALUE, Integer.MAX_VALUE),
    /** {@code unsigned int}. */
    UINT32("uint32", 0, 0xFFFF_FFFFL),
    /** {@code long} and {@code long long}. */
    INT64("int64", Long.MIN_VALUE, Long.MAX_VALUE),
    /** {@code unsigned long}, {@code size_t}; of expressions, which know no more, the values below 2^63. */
    UINT64("uint64", 0, Long.MAX_VALUE),
    /** {@code float}; integers up to 2^24 are exact. */
    FLOAT("float", Long.MIN_VALUE, Long.MAX_VALUE),
    /** {@code double}; integers up to 2^53 are exact. */
    DOUBLE("double", Long.MIN_VALUE, Long.MAX_VALUE);

    private final String word;
    private final long least;
    private final long most;

    ScalarType(String word, long least, long most) {
        this.word = word;
        this.least = least;
        this.most = most;
    }

    static Optional<ScalarType> of(String word) {
        return Arrays.stream(values()).filter(type -> type.word.equals(word)).findFirst();
    }

    static String words() {
        return Arrays.stream(values()).map(type -> type.word).collect(Collectors.joining(", "));
    }

    String word() {
        return word;
    }

    int byteSize() {
        return switch (this) {
            case INT8, UINT8 -> Byte.BYTES;
            case INT16, UINT16 -> Short.BYTES;
            case INT32, UINT32, FLOAT -> Integer.BYTES;
            case INT64, UINT64, DOUBLE -> Long.BYTES;
        };
    }

    long least() {
        return least;
    }

    long most() {
        return most;
    }

    boolean isFloating() {
        return this == FLOAT || this == DOUBLE;
    }

    /** Writes an integer from {@link #least} to {@link #most} to {@code slot} as a kernel reads it. */
    void write(MemorySegment slot, long value) {
        switch (this) {
            case INT8, UINT8 -> slot.set(ValueLayout.JAVA_BYTE, 0, (byte) value);
            case INT16, UINT16 -> slot.set(ValueLayout.JAVA_SHORT, 0, (short) value);
            case INT32, UINT32 -> slot.set(ValueLayout.JAVA_INT, 0, (int) value);
            case INT64, UINT64 -> slot.set(ValueLayout.JAVA_LONG, 0, value);
            case FLOAT -> slot.set(ValueLayout.JAVA_FLOAT, 0, (float) value);
            case DOUBLE -> slot.set(ValueLayout.JAVA_DOUBLE, 0, (double) value);
        }
    }

    /** Writes a number with a fraction; for floating types only. */
    void write(MemorySegment slot, double value) {
        if (this == FLOAT) {
            slot.set(ValueLayout.JAVA_FLOAT, 0, (float) value);
        } else {
            slot.set(ValueLayout.JAVA_DOUBLE, 0, value);
        }
    }
}
