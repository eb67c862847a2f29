// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The spans of time up to now that the first page shows. */
public enum TimeRange {
    /** Five minutes, second by second. */
    FIVE_MINUTES(5),
    /** A quarter of an hour. */
    FIFTEEN_MINUTES(15),
    /** All that is kept. */
    HOUR(60);

    /** The points of a series of the whole server, whatever the range. */
    public static final int SERVER_POINTS = 300;

    /** The points of a series of a version: what a chart in a table's cell has room for. */
    public static final int VERSION_POINTS = 60;

    private final int minutes;

    TimeRange(int minutes) {
        this.minutes = minutes;
    }

    /** Its length in minutes. */
    public int minutes() {
        return minutes;
    }

    /** Its length in seconds. */
    int seconds() {
        return (int) TimeUnit.MINUTES.toSeconds(minutes);
    }

    /** The seconds of each of {@code points} points. */
    int step(int points) {
        return seconds() / points;
    }

    /** The milliseconds of each of {@code points} points. */
    public long stepMillis(int points) {
        return TimeUnit.SECONDS.toMillis(step(points));
    }

    /** The range of that many minutes; empty when there is none. */
    public static Optional<TimeRange> ofMinutes(String minutes) {
        return Arrays.stream(values())
                .filter(range -> Integer.toString(range.minutes).equals(minutes))
                .findFirst();
    }
}
