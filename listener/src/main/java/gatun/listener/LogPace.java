// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/** Lets one line a second into the log about events that clients can cause as often as they like. Thread-safe. */
final class LogPace {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - PERIOD.toNanos());
    private final AtomicLong untold = new AtomicLong();

    /** Present when a line may be written now: the number of lines that were left out since the last. */
    OptionalLong take() {
        long now = System.nanoTime();
        long last = lastNanos.get();
        if (now - last >= PERIOD.toNanos() && lastNanos.compareAndSet(last, now)) {
            return OptionalLong.of(untold.getAndSet(0));
        }
        untold.incrementAndGet();
        return OptionalLong.empty();
    }
}
