// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import java.util.List;

/**
 * How one kernel is launched. Immutable.
 *
 * @param name its name in the configuration
 * @param function its name in the model's file
 * @param grid how many blocks there are in x, y and z
 * @param block how many threads a block has in x, y and z
 * @param sharedMemory bytes of dynamic shared memory for each block
 * @param arguments the values of the kernel's parameters, in their order
 */
record KernelPlan(
        String name,
        String function,
        List<Formula> grid,
        List<Formula> block,
        Formula sharedMemory,
        List<Argument> arguments) {
    /** How many numbers a grid or a block has; those that a configuration leaves out are 1. */
    static final int AXES = 3;
}
