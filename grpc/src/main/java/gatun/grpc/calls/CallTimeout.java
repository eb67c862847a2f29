// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** The {@code grpc-timeout} header: up to eight digits and a unit. */
public final class CallTimeout {
    private static final int MAX_DIGITS = 8;

    private CallTimeout() {}

    /** The time in nanoseconds, at most {@link Long#MAX_VALUE}; empty when the text is not a timeout. */
    public static OptionalLong parseNanos(String text) {
        int digits = text.length() - 1;
        if (digits < 1 || digits > MAX_DIGITS) {
            return OptionalLong.empty();
        }
        long amount = 0;
        for (int i = 0; i < digits; i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return OptionalLong.empty();
            }
            amount = 10 * amount + (c - '0');
        }
        return switch (text.charAt(digits)) {
            case 'H' -> OptionalLong.of(TimeUnit.HOURS.toNanos(amount));
            case 'M' -> OptionalLong.of(TimeUnit.MINUTES.toNanos(amount));
            case 'S' -> OptionalLong.of(TimeUnit.SECONDS.toNanos(amount));
            case 'm' -> OptionalLong.of(TimeUnit.MILLISECONDS.toNanos(amount));
            case 'u' -> OptionalLong.of(TimeUnit.MICROSECONDS.toNanos(amount));
            case 'n' -> OptionalLong.of(amount);
            default -> OptionalLong.empty();
        };
    }
}
