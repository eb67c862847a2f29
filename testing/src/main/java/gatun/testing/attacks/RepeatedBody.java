// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** A long body that is never in memory as a whole: a begin, a unit that is repeated, and an end. Immutable. */
public final class RepeatedBody {
    private static final int PIECE_BYTES = 256 << 10;

    private final byte[] begin;
    private final byte[] unit;
    private final long count;
    private final byte[] end;

    /**
     * A body that begins with {@code begin}, has {@code unit} {@code count} times, and ends with {@code end}; keeps the
     * arrays.
     */
    public RepeatedBody(byte[] begin, byte[] unit, long count, byte[] end) {
        this.begin = begin;
        this.unit = unit;
        this.count = count;
        this.end = end;
    }

    /** How often the unit is repeated. */
    public long count() {
        return count;
    }

    /** A body of texts in UTF-8. */
    public static RepeatedBody of(String begin, String unit, long count, String end) {
        return new RepeatedBody(bytes(begin), bytes(unit), count, bytes(end));
    }

    /** A body of one byte repeated until it has {@code byteSize} bytes, but for its begin and end, which count. */
    public static RepeatedBody filling(String begin, char unit, String end, long byteSize) {
        return of(begin, String.valueOf(unit), byteSize - bytes(begin).length - bytes(end).length, end);
    }

    /** Its size in bytes. */
    public long byteSize() {
        return begin.length + unit.length * count + end.length;
    }

    /** Writes all of it. */
    public void writeTo(OutputStream out) throws IOException {
        out.write(begin);
        int unitsAtOnce = (int) Math.min(count, Math.max(1, PIECE_BYTES / unit.length));
        byte[] piece = new byte[unitsAtOnce * unit.length];
        for (int i = 0; i < unitsAtOnce; i++) {
            System.arraycopy(unit, 0, piece, i * unit.length, unit.length);
        }
        long left = count;
        while (left > 0) {
            int units = (int) Math.min(left, unitsAtOnce);
            out.write(piece, 0, units * unit.length);
            left -= units;
        }
        out.write(end);
        out.flush();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
