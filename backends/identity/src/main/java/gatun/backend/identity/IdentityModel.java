// SPDX-License-Identifier: Apache-2.0
package gatun.backend.identity;

import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelInput;
import java.time.Duration;
import java.util.Map;

/**
 * A model whose outputs repeat its inputs.
 *
 * @param inputOfOutput the input that each output repeats, by the output's name
 * @param batching whether tensors have a batch dimension
 * @param delay how long a run takes
 * @param ragged whether the requests of a batch may differ in their shapes
 * @param activities what it notes in the traces of its requests
 */
record IdentityModel(
        Map<String, ModelInput> inputOfOutput,
        boolean batching,
        Duration delay,
        boolean ragged,
        TracedActivities activities)
        implements BackendModel {
    IdentityModel {
        inputOfOutput = Map.copyOf(inputOfOutput);
    }

    @Override
    public boolean takesRequestsApart() {
        return ragged;
    }

    /** The runtime moves the bytes, without a look at them. */
    @Override
    public MemoryUse inputMemory(String input) {
        return MemoryUse.IN_PLACE;
    }

    @Override
    public MemoryUse outputMemory(String output) {
        return MemoryUse.IN_PLACE;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new IdentityInstance(this);
    }
}
