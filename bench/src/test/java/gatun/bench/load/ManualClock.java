// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.function.BooleanSupplier;

/** A clock that a test advances; waiting is instant. */
final class ManualClock implements Clock {
    private long now;

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public void waitUntil(long due, BooleanSupplier stopped) {
        now = Math.max(now, due);
    }

    void advance(long nanos) {
        now += nanos;
    }
}
