// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;

/** Some of the inputs of a run of several requests, from 0. Used by the instance's thread only. */
interface InputGroup {
    int count();

    TensorSpec spec(int index);

    /** Input {@code index}, made when it is asked for first; valid until {@link #clear}. */
    Tensor tensor(int index);

    void clear();
}
