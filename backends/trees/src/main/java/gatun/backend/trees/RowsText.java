// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import static java.nio.charset.StandardCharsets.US_ASCII;

import gatun.memory.tensor.Datatype;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Rows as numpy's array interface, the text that XGBoost takes. Only address, count and type change, in fields of equal
 * width with blanks before the number. For one thread at a time.
 */
final class RowsText {
    private static final String BLANK_NUMBER = " ".repeat(20);
    private static final String ADDRESS = "{\"data\":[";
    private static final String COUNT = ",true],\"shape\":[";
    private static final String TYPE = "],\"version\":3,\"typestr\":\"<f";

    private final MemorySegment text;
    private final int countAt;
    private final int typeAt;

    RowsText(int features, Arena arena) {
        countAt = ADDRESS.length() + BLANK_NUMBER.length() + COUNT.length();
        String head = ADDRESS + BLANK_NUMBER + COUNT + BLANK_NUMBER + "," + features + TYPE;
        typeAt = head.length();
        text = arena.allocateFrom(head + "4\"}", US_ASCII);
    }

    /** The text for these rows; valid until the next call. */
    MemorySegment of(MemorySegment rows, Datatype datatype, long count) {
        write(rows.address(), ADDRESS.length());
        write(count, countAt);
        text.set(ValueLayout.JAVA_BYTE, typeAt, (byte) ('0' + datatype.byteSize()));
        return text;
    }

    /** Writes a positive number to the end of the field that begins at {@code field}. */
    private void write(long number, int field) {
        long rest = number;
        for (int at = field + BLANK_NUMBER.length() - 1; at >= field; at--) {
            text.set(ValueLayout.JAVA_BYTE, at, (byte) (rest == 0 ? ' ' : '0' + rest % 10));
            rest /= 10;
        }
    }
}
