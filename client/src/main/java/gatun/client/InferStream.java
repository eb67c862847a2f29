// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** Requests and responses on one stream, in order; a request may have any number of responses. Any thread may send. */
public interface InferStream extends AutoCloseable {
    /**
     * Sends a request; waits while the server takes no more. Its memory is free again when this returns.
     *
     * @throws IllegalStateException when the stream has ended
     */
    void send(InferRequest request);

    /** Sends no more, and waits until everything was answered, or the stream broke. A second call does nothing. */
    @Override
    void close();

    /** Gives up at once: nothing more comes, and the server stops what it can. */
    void cancel();
}
