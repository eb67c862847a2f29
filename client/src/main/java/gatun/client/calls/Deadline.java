// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.DeadlineException;
import java.time.Duration;
import java.util.Optional;

/** Until when a call may take: {@code at} is a {@link System#nanoTime}, a zero {@code limit} is none. Immutable. */
public record Deadline(long at, Duration limit) {
    /** Any time. */
    public static final Deadline NONE = new Deadline(0, Duration.ZERO);

    /** A call that begins now. */
    public static Deadline of(Optional<Duration> limit) {
        return limit.isEmpty() ? NONE : of(limit.get());
    }

    /** A call that begins now and may take this long, which is more than nothing. */
    public static Deadline of(Duration limit) {
        return new Deadline(at(limit), limit);
    }

    /** Whether there is one. */
    public boolean isSet() {
        return !limit.isZero();
    }

    /** Whether the time is over. */
    public boolean hasPassed() {
        return isSet() && remainingNanos() <= 0;
    }

    /** How much time is left; negative when it is over, and without bound where there is no deadline. */
    public long remainingNanos() {
        return isSet() ? at - System.nanoTime() : Long.MAX_VALUE;
    }

    /** The failure of a call that took too long. */
    public DeadlineException exceeded(String what, String address) {
        return new DeadlineException(what + " of " + address + " was not answered within the deadline of " + text(limit)
                + "; the server may still be at work on it");
    }

    private static String text(Duration limit) {
        long nanos = nanos(limit);
        return nanos % 1_000_000 == 0 ? nanos / 1_000_000 + " ms" : nanos / 1000 + " us";
    }

    /** The reading of {@link System#nanoTime} at which a call that begins now and may take this long is late. */
    public static long at(Duration limit) {
        return System.nanoTime() + nanos(limit);
    }

    /** Far from an overflow of the clock. */
    private static long nanos(Duration limit) {
        return limit.compareTo(Duration.ofDays(36_500)) > 0
                ? Duration.ofDays(36_500).toNanos()
                : limit.toNanos();
    }
}
