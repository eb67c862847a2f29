// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Shape;

/**
 * How an output of a batch is cut into the pieces of its requests: by the shape that an input of each has.
 *
 * @param sourceInput the input's name
 * @param backendDims the output's dimensions, without the batch dimension; a variable one is as large as the same one
 *     of the input
 */
record ScatterRule(String sourceInput, Shape backendDims) {
    /**
     * The shape of the piece that belongs to a request whose source input has this shape, the batch dimension included.
     */
    Shape piece(Shape source) {
        long[] dims = backendDims.prepend(Shape.VARIABLE).toArray();
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == Shape.VARIABLE) {
                dims[i] = source.dim(i);
            }
        }
        return Shape.of(dims);
    }
}
