// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.io.IOException;

/** Requests on one connection, one after another. For one thread; {@link #close} for any. */
interface WarmUpConnection extends AutoCloseable {
    /** Sends the next request. {@link #receive} follows. Throws {@link IOException} when the connection ended. */
    void send() throws IOException;

    /** Waits for the whole response. Throws {@link IOException} when the connection ended, or the response is none. */
    void receive() throws IOException;

    /** Ends the connection; a request that is under way fails. */
    @Override
    void close() throws IOException;

    /** Begins conversations of one kind. Safe for any thread. */
    @FunctionalInterface
    interface Kind {
        WarmUpConnection begin() throws IOException;
    }
}
