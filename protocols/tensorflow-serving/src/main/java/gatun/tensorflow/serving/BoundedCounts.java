// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many numbers are below each of some bounds, and their sum. Safe for any thread; a read while a value is added may
 * lack it.
 */
final class BoundedCounts {
    private static final MathContext SIX_DIGITS = new MathContext(6);
    private static final double SCIENTIFIC = 1e6;

    private final double[] bounds;

    /** By bound; the last is for values that are not below any. */
    private final LongAdder[] counts;

    private final LongAdder sum = new LongAdder();

    /** @param bounds ascending; kept */
    BoundedCounts(double[] bounds) {
        this.bounds = bounds;
        counts = new LongAdder[bounds.length + 1];
        Arrays.setAll(counts, bucket -> new LongAdder());
    }

    void add(long number) {
        int bucket = 0;
        while (bucket < bounds.length && number >= bounds[bucket]) {
            bucket++;
        }
        counts[bucket].increment();
        sum.add(number);
    }

    /** For each bound how many numbers are below, and at the end how many there are. */
    long[] cumulative() {
        long[] cumulative = new long[counts.length];
        long total = 0;
        for (int i = 0; i < cumulative.length; i++) {
            total += counts[i].sum();
            cumulative[i] = total;
        }
        return cumulative;
    }

    long sum() {
        return sum.sum();
    }

    /** The bounds with six digits, as C writes them, and {@code +Inf}. */
    List<String> bounds() {
        List<String> texts = new ArrayList<>();
        for (double bound : bounds) {
            BigDecimal rounded = new BigDecimal(bound).round(SIX_DIGITS).stripTrailingZeros();
            texts.add(bound < SCIENTIFIC ? rounded.toPlainString() : scientific(rounded));
        }
        texts.add("+Inf");
        return texts;
    }

    private static String scientific(BigDecimal number) {
        int exponent = number.precision() - number.scale() - 1;
        String digits = number.unscaledValue().toString();
        String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
        return digits.charAt(0) + fraction + (exponent < 10 ? "e+0" : "e+") + exponent;
    }
}
