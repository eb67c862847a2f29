// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** Takes the responses of an {@link InferStream}, in order, one at a time; the stream waits meanwhile. */
public interface StreamReceiver {
    /**
     * A response; the receiver closes it.
     *
     * @param last whether its request has no more responses to come, where the server says so
     */
    void answer(InferResponse response, boolean last);

    /**
     * A request failed, and the stream goes on.
     *
     * @param id the request's id where the server says it, else empty
     */
    void failed(String id, ServerException failure);

    /** The stream broke; nothing else comes. */
    void broken(ClientException failure);

    /** Everything was answered, and the stream is at its end. */
    default void finished() {}
}
