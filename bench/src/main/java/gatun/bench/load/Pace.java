// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/** Says when the next request is to be sent. Safe for any thread: each call takes another request. */
public interface Pace {
    /** Each request at once, when a worker is ready for it. */
    Pace CLOSED_LOOP = new Pace() {
        @Override
        public long next(long now) {
            return now;
        }

        @Override
        public long overdue(long now) {
            return 0;
        }
    };

    /** When the request that the caller takes is due: {@code now}, earlier or later. */
    long next(long now);

    /** How many requests were due by {@code now} that no worker has taken. */
    long overdue(long now);
}
