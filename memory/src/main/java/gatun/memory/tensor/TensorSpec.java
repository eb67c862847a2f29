// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The name, datatype and shape of a tensor. Immutable.
 *
 * @param name the tensor's name in its model; never empty in a configuration
 * @param datatype the type of its elements
 * @param shape its dimensions; with variable ones in a model's configuration, without in a request
 */
public record TensorSpec(String name, Datatype datatype, Shape shape) {
    /** Checks that nothing is missing. */
    public TensorSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(datatype, "datatype");
        Objects.requireNonNull(shape, "shape");
    }

    // Those of a record are made when first called, which takes milliseconds of each start.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TensorSpec spec
                && name.equals(spec.name)
                && datatype.equals(spec.datatype)
                && shape.equals(spec.shape);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * name.hashCode() + datatype.hashCode()) + shape.hashCode();
    }

    /** As in {@code 'INPUT0' INT32 [1,16]}. */
    @Override
    public String toString() {
        return "'" + name + "' " + datatype + ' ' + shape;
    }
}
