// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A version's slowest requests of the hour, {@value #KEPT} of each ten minutes. Thread-safe. */
public final class SlowestRequests {
    /** How many are shown. */
    public static final int SHOWN = 32;

    /** How many of each part of the hour are kept. */
    static final int KEPT = 16;

    private static final long PART_MILLIS = TimeUnit.MINUTES.toMillis(10);
    private static final int PARTS = 7;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final @Nullable SlowRequest[][] parts = new @Nullable SlowRequest[PARTS][];
    private final long[] numbers = new long[PARTS];

    /** The present part; requests of another one are looked at under the lock. */
    private volatile long present = -1;

    /** The least duration that the present part takes. */
    private volatile long thresholdNanos;

    /** None yet. */
    public SlowestRequests() {
        Arrays.fill(numbers, -1);
    }

    /** Whether a request that ends now and took so long is to be {@linkplain #add added}. */
    public boolean wants(long nanos, long nowMillis) {
        return nanos > thresholdNanos || nowMillis / PART_MILLIS != present;
    }

    /** Adds a request that ends now, if it is slow enough. */
    public void add(long nanos, long nowMillis, Supplier<SlowRequest> request) {
        lock.lock();
        try {
            @Nullable SlowRequest[] part = part(nowMillis / PART_MILLIS);
            int least = 0;
            for (int i = 1; i < part.length; i++) {
                if (total(part[i]) < total(part[least])) {
                    least = i;
                }
            }
            if (total(part[least]) < nanos) {
                part[least] = request.get();
                thresholdNanos = Math.max(
                        0,
                        Arrays.stream(part)
                                .mapToLong(SlowestRequests::total)
                                .min()
                                .orElse(0));
            }
        } finally {
            lock.unlock();
        }
    }

    private static long total(@Nullable SlowRequest request) {
        return request == null ? -1 : request.totalNanos();
    }

    private @Nullable SlowRequest[] part(long number) {
        int place = (int) (number % PARTS);
        @Nullable SlowRequest[] part = parts[place];
        if (part == null || numbers[place] != number) {
            part = new @Nullable SlowRequest[KEPT];
            parts[place] = part;
            numbers[place] = number;
            thresholdNanos = 0;
        }
        present = number;
        return part;
    }

    /** The slowest of the last hour, the slowest first. */
    public List<SlowRequest> slowest(long nowMillis) {
        long from = nowMillis - TimeUnit.HOURS.toMillis(1);
        List<SlowRequest> all = new ArrayList<>();
        lock.lock();
        try {
            for (@Nullable SlowRequest[] part : parts) {
                for (int i = 0; part != null && i < part.length; i++) {
                    SlowRequest request = part[i];
                    if (request != null && request.atMillis() >= from) {
                        all.add(request);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        all.sort(Comparator.comparingLong(SlowRequest::totalNanos).reversed());
        return List.copyOf(all.subList(0, Math.min(SHOWN, all.size())));
    }
}
