// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.memory.tensor.TensorSpec;
import java.util.AbstractList;
import java.util.List;

/** The names of a model's tensors, as a list that makes no copy of them. */
final class TensorNames {
    private TensorNames() {}

    /** The names of {@code specs}, in their order. */
    static List<String> of(List<TensorSpec> specs) {
        return new AbstractList<>() {
            @Override
            public String get(int index) {
                return specs.get(index).name();
            }

            @Override
            public int size() {
                return specs.size();
            }
        };
    }
}
