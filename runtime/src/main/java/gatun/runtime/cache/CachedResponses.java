// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.runtime.execution.ComposedResponse;
import gatun.spi.ParameterValue;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The responses of one model, as long as equal requests to it have equal responses. Safe for any thread. */
interface CachedResponses {
    /** The place of the response to one request; nobody may change {@code inputs} meanwhile. */
    Entry entry(List<Tensor> inputs, Map<String, ParameterValue> parameters, ComposedResponse wanted);

    /** Gives up what is kept in this process, for good: responses that are put later are not kept. */
    void drop();

    /** The place of one response. Used by the thread that asked for it. */
    interface Entry {
        /** The response, if it is there. */
        Optional<Found> find();

        /** Replaces the stored copy of a response's outputs; does nothing where there is no room for them. */
        void put(List<Tensor> outputs);
    }

    /** A response that was found; {@code claim} keeps it valid and is owned by the finder. */
    record Found(List<Tensor> outputs, Hold claim) {}
}
