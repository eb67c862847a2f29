// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.spi.ParameterValue;
import java.util.List;
import java.util.Map;

/** A response to an {@link InferenceRequest}. Owns its outputs' buffers until it is sent. Not thread-safe. */
public final class InferenceResponse implements Hold {
    private final String modelName;
    private final String modelVersion;
    private final String id;
    private final List<OutputTensor> outputs;
    private final Map<String, ParameterValue> parameters;
    private final List<Hold> holds;
    private boolean regionsReleased;
    private boolean closed;

    /** A response that owns {@code holds}. */
    public InferenceResponse(
            String modelName,
            String modelVersion,
            String id,
            List<OutputTensor> outputs,
            Map<String, ParameterValue> parameters,
            List<Hold> holds) {
        this.modelName = modelName;
        this.modelVersion = modelVersion;
        this.id = id;
        this.outputs = outputs;
        this.parameters = parameters;
        this.holds = holds;
    }

    /** The model that answered. */
    public String modelName() {
        return modelName;
    }

    /** The version that answered, in decimal. */
    public String modelVersion() {
        return modelVersion;
    }

    /** The id of the request; empty when it had none. */
    public String id() {
        return id;
    }

    /** The outputs, in the order the client asked for them, or in the model's order. */
    public List<OutputTensor> outputs() {
        return outputs;
    }

    /** Parameters that the backend set; mostly empty. */
    public Map<String, ParameterValue> parameters() {
        return parameters;
    }

    /**
     * Gives back the windows in clients' regions, whose bytes must not be read here any more; only the first call does
     * anything. A protocol that sends nothing of what lies there calls it before it answers: a client that has its
     * answer then finds its regions unused.
     */
    public void releaseRegions() {
        if (closed || regionsReleased) {
            return;
        }
        regionsReleased = true;
        for (int i = 0; i < holds.size(); i++) {
            if (holds.get(i) instanceof RegionLease lease) {
                lease.close();
            }
        }
    }

    /** Makes this, which was closed and owns nothing, the response to its request that was asked again. */
    public void reopen() {
        closed = false;
        regionsReleased = false;
    }

    /** Gives the output buffers back; only the first call does anything. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (int i = 0; i < holds.size(); i++) {
            Hold hold = holds.get(i);
            if (!regionsReleased || !(hold instanceof RegionLease)) {
                hold.close();
            }
        }
    }

    /** An output; {@code inSharedMemory} if it lies in the client's own region, so that only metadata is sent. */
    public record OutputTensor(Tensor tensor, boolean inSharedMemory) {}

    /** Takes the responses to one request, in order, on the thread that waits for the request. */
    @FunctionalInterface
    public interface ResponseReceiver {
        /**
         * Takes a response, and owns it from the first moment. May wait, for a client that reads slowly: the model
         * waits then too. {@code last} says whether no more responses follow. A decoupled model may also end its
         * responses without one that is marked so: then {@code InferenceServer.infer} returns though none was the last.
         */
        void accept(InferenceResponse response, boolean last);

        /** Takes a failure in a response's place; others may follow. By default it ends the request. */
        default void acceptFailure(GatunException reason) {
            throw reason;
        }
    }
}
