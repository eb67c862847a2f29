// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import gatun.backend.sequence.Control.Controls;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;

/**
 * A model that adds up sequences.
 *
 * @param controls the inputs that mark their steps
 * @param batching whether tensors have a batch dimension
 * @param sequenceLimit how many sequences an instance may serve at a time
 */
record AccumulatorModel(Controls controls, boolean batching, int sequenceLimit) implements BackendModel {
    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new AccumulatorInstance(this);
    }
}
