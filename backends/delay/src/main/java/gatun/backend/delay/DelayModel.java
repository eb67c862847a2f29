// SPDX-License-Identifier: Apache-2.0
package gatun.backend.delay;

import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import java.time.Duration;
import java.util.Map;

/**
 * A model that answers with its inputs after a time.
 *
 * @param inputOfOutput the input that each output is answered with, by their names
 * @param delay how long a run takes where the request does not say
 */
record DelayModel(Map<String, String> inputOfOutput, Duration delay) implements BackendModel {
    DelayModel {
        inputOfOutput = Map.copyOf(inputOfOutput);
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
        return new DelayInstance(this);
    }
}
