// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.GatunException;

/**
 * Takes the responses to one request, in order. Called by the thread that waits for the request, never by two at a
 * time.
 */
@FunctionalInterface
public interface ResponseReceiver {
    /**
     * Takes a response, and owns it from the first moment. May wait, for a client that reads slowly: the model waits
     * then too.
     *
     * @param last whether no more responses follow. A decoupled model may also end its responses without one that is
     *     marked so: then {@code InferenceServer.infer} returns though none was the last
     */
    void accept(InferenceResponse response, boolean last);

    /**
     * Takes a failure of a decoupled model in the place of a response, after which others may follow. The request ends
     * by it where a receiver does not say otherwise.
     */
    default void acceptFailure(GatunException reason) {
        throw reason;
    }
}
