// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import java.io.IOException;

/** One client connection that sends the same request again and again. Used by one thread. */
interface Exchange extends AutoCloseable {
    /**
     * Sends the request and waits for the whole response.
     *
     * @throws IllegalStateException when the response is not a success
     */
    void once() throws IOException;

    @Override
    void close() throws IOException;
}
