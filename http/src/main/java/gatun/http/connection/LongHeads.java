// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.Status;
import java.util.concurrent.Semaphore;

/** A budget of heap for long heads over all connections: slow ones would fill the heap. Thread-safe. */
final class LongHeads {
    static final LongHeads OF_PROCESS = new LongHeads(16 << 20);

    private final int most;
    private final Semaphore bytes;

    LongHeads(int most) {
        this.most = most;
        this.bytes = new Semaphore(most);
    }

    /** Takes {@code byteSize} more bytes, given back by {@link #give}. Throws RefusedHead when others have them. */
    void take(int byteSize) throws RequestHeadParser.RefusedHead {
        if (!bytes.tryAcquire(byteSize)) {
            throw new RequestHeadParser.RefusedHead(
                    Status.SERVICE_UNAVAILABLE_503,
                    "other requests with long heads take the " + most
                            + " bytes there are for them; send shorter headers, or try again later");
        }
    }

    void give(int byteSize) {
        bytes.release(byteSize);
    }
}
