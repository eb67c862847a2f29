// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.TensorSpec;

/**
 * An input or output of an {@link EntryPoint}.
 *
 * @param spec name, datatype and shape; the shape says nothing where {@code anyShape} is true
 * @param anyShape whether the model leaves even the number of dimensions open
 * @param engineName what the engine calls the tensor; the name itself where it has no other
 * @param optional whether a request may leave the input out, because the model has a default for it
 */
public record EntryTensor(TensorSpec spec, boolean anyShape, String engineName, boolean optional) {
    /** A tensor that the model has no default for. */
    public EntryTensor(TensorSpec spec, boolean anyShape, String engineName) {
        this(spec, anyShape, engineName, false);
    }

    /** A tensor that the engine calls as clients do. */
    public static EntryTensor of(TensorSpec spec) {
        return new EntryTensor(spec, false, spec.name());
    }
}
