// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;

/** The inputs of a run, by their names. */
final class Inputs {
    private Inputs() {}

    static Tensor named(Execution execution, String name) {
        int index = execution.inputIndex(name);
        if (index >= 0) {
            return execution.input(index);
        }
        throw GatunException.invalidArgument("the request has no input '" + name + "'");
    }
}
