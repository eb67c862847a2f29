// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.time.Duration;

/**
 * What a store may take of this process.
 *
 * @param timeout for a connection, for the head of a response, and in which at least {@code leastBytes} of a body come
 * @param leastBytes the fewest bytes of a body within the timeout, but for the last of it
 * @param attempts how often something is asked for that fails in a way that may pass
 * @param backOff how long to wait before the second attempt; twice as long before each further one
 * @param objects the most objects in a listing
 * @param listingCharacters the most characters of all names and ETags in a listing, which are kept in the heap
 * @param pageByteSize the most bytes of one page of a listing
 */
public record StoreLimits(
        Duration timeout,
        long leastBytes,
        int attempts,
        Duration backOff,
        int objects,
        long listingCharacters,
        long pageByteSize) {
    /** Limits for this timeout: 16 KiB within each, 100,000 objects of 160 characters, four times the usual pages. */
    public static StoreLimits of(Duration timeout) {
        return new StoreLimits(timeout, 16 << 10, 4, Duration.ofMillis(250), 100_000, 16L << 20, 16L << 20);
    }
}
