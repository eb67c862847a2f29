// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import java.util.concurrent.atomic.AtomicInteger;

/** Keeps hedged requests to a tenth of all; ten are saved up at most, and at the start. Thread-safe. */
final class HedgeBudget {
    /** The price of a hedged request; each request earns 1. */
    private static final int PRICE = 10;

    private static final int MOST = 10 * PRICE;

    private final AtomicInteger saved = new AtomicInteger(MOST);

    void earn() {
        saved.updateAndGet(now -> Math.min(now + 1, MOST));
    }

    /** Whether a request may be hedged; the price is then paid. */
    boolean spend() {
        return saved.getAndUpdate(now -> now >= PRICE ? now - PRICE : now) >= PRICE;
    }
}
