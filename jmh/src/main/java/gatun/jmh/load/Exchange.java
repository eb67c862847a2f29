// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.bench.load.Caller;

/** One client connection that sends the same prepared bytes again and again, and does not look at the response. */
interface Exchange extends Caller {
    /**
     * Sends the request and waits for the whole response.
     *
     * @throws RuntimeException when the response is not a success, or the connection fails
     */
    @Override
    void call();

    @Override
    default void prepare() {}

    @Override
    default String finish() {
        return "";
    }

    @Override
    default long tensorByteSize() {
        return 0;
    }
}
