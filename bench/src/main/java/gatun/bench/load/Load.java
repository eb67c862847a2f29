// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.SplittableRandom;

/** How much is asked of a server. */
public sealed interface Load {
    /** The number that the user gave: how many at a time, or how many per second. */
    double value();

    /** As a table shows it. */
    String text();

    /** When requests are sent. {@code start} is a reading of the clock. */
    Pace pace(long start, long seed);

    /** A closed loop of {@code requests} at any time, at least 1; each is followed by the next when it was answered. */
    record Concurrency(int requests) implements Load {
        @Override
        public double value() {
            return requests;
        }

        @Override
        public String text() {
            return Integer.toString(requests);
        }

        @Override
        public Pace pace(long start, long seed) {
            return Pace.CLOSED_LOOP;
        }
    }

    /** An open loop: {@code perSecond} requests on average, above 0, whether or not earlier ones were answered. */
    record RequestRate(double perSecond, Distribution distribution) implements Load {
        @Override
        public double value() {
            return perSecond;
        }

        @Override
        public String text() {
            return (perSecond == Math.rint(perSecond) ? Long.toString((long) perSecond) : Double.toString(perSecond))
                    + "/s";
        }

        @Override
        public Pace pace(long start, long seed) {
            return new SendSchedule(start, perSecond, distribution, new SplittableRandom(seed));
        }
    }
}
