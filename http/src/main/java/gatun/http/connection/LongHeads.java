// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import java.util.concurrent.Semaphore;

/**
 * Heap for the heads of requests that are longer than most, over all connections: heads that come slowly, or never as a
 * whole, would fill the heap otherwise. Thread-safe.
 */
final class LongHeads {
    /** There is one heap. */
    static final LongHeads OF_PROCESS = new LongHeads(16 << 20);

    private final int most;
    private final Semaphore bytes;

    /** Heads that take at most {@code most} bytes at a time. */
    LongHeads(int most) {
        this.most = most;
        this.bytes = new Semaphore(most);
    }

    /**
     * Takes {@code byteSize} more bytes until {@link #give}.
     *
     * @throws RequestHeadSyntax.RefusedHead when others have them
     */
    void take(int byteSize) throws RequestHeadSyntax.RefusedHead {
        if (!bytes.tryAcquire(byteSize)) {
            throw RequestHeadSyntax.RefusedHead.forNow("other requests with long heads take the " + most
                    + " bytes there are for them; send shorter headers, or" + " try again later");
        }
    }

    /** Gives back {@code byteSize} of what was taken. */
    void give(int byteSize) {
        bytes.release(byteSize);
    }
}
