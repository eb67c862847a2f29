// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelVersion;
import java.util.Optional;
import java.util.OptionalLong;

/** What a request needs: its model, the memory and limits that it is read with, and its responses. Thread-safe. */
public interface InferenceService extends ServerResources {
    /**
     * The version of a model that is to answer a request.
     *
     * @param name the model's name
     * @param version the version in decimal as the client wrote it; empty for the highest that is ready
     * @throws GatunException NOT_FOUND, UNAVAILABLE or INVALID_ARGUMENT with the protocol's text
     */
    ModelVersion model(String name, String version);

    /** The version of the model with that identity; otherwise as {@link #model(String, String)}. */
    default ModelVersion model(ModelIdentifier model, String version) {
        return model(model.name(), version);
    }

    /** The listed version of a label; empty for none. A label moves once its new version serves. */
    default OptionalLong labelled(String model, String label) {
        return OptionalLong.empty();
    }

    /**
     * Why a version cannot answer now, in the protocol's words; empty when it can.
     *
     * @param version the version in decimal as the client wrote it; empty for the highest that is ready
     * @throws GatunException INVALID_ARGUMENT when that is no number
     */
    default Optional<String> unreadiness(String name, String version) {
        try {
            return model(name, version).ready()
                    ? Optional.empty()
                    : Optional.of("model '" + name + "' cannot answer requests now");
        } catch (GatunException e) {
            if (e.code() == ErrorCode.NOT_FOUND || e.code() == ErrorCode.UNAVAILABLE) {
                return Optional.of(e.getMessage());
            }
            throw e;
        }
    }

    /**
     * Answers one request; parks the calling thread, which should be virtual, until the response is there. Owns the
     * request from the first moment and closes it on every path. The caller owns the response.
     *
     * @throws GatunException when the request is wrong, refused or failed; UNSUPPORTED when its model is decoupled
     */
    InferenceResponse infer(InferenceRequest request);

    /**
     * Answers one request with as many responses as its model gives: one, or for a decoupled model any number, also
     * none. Parks the calling thread, which should be virtual, until the last is there, and calls {@code receiver} on
     * it for each. Owns the request as {@link #infer(InferenceRequest)} does.
     *
     * <p>A decoupled model waits when the receiver falls some responses behind. A failure of the receiver gives the
     * request up and is thrown to the caller, and so does {@link InferenceRequest#cancellation}, after which the
     * receiver is not called again.
     *
     * @throws GatunException when the request is wrong, refused or failed; responses may have come before
     */
    default void infer(InferenceRequest request, ResponseReceiver receiver) {
        receiver.accept(infer(request), true);
    }

    /** Whether the server was told to stop: it answers accepted requests, and refuses new ones. */
    boolean exiting();
}
