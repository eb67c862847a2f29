// SPDX-License-Identifier: Apache-2.0
package gatun.backend.repeat;

import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.InstanceSpec;

/** A model that repeats its input: all of it in one run, or one element in each. */
final class RepeatModel implements BackendModel {
    private final boolean iterative;

    RepeatModel(boolean iterative) {
        this.iterative = iterative;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        return new RepeatInstance(iterative);
    }
}
