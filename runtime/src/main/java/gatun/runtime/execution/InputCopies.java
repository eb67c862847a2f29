// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Copies of inputs that clients could change during a run, one of each. Used by the instance's thread only. */
final class InputCopies {
    private final Run run;

    /** By input; also those of earlier runs, which are used again where the pool lends the same memory again. */
    private @Nullable Tensor[] copies = {};

    private boolean[] made = {};

    InputCopies(Run run) {
        this.run = run;
    }

    /**
     * The copy of {@code input}, the run's input {@code index}.
     *
     * @throws gatun.memory.tensor.GatunException UNAVAILABLE when the pool has no room for it
     */
    Tensor of(int index, Tensor input) {
        if (index >= copies.length) {
            copies = Arrays.copyOf(copies, index + 1);
            made = Arrays.copyOf(made, index + 1);
        }
        Tensor copy = copies[index];
        if (copy == null || !made[index]) {
            MemorySegment bytes = run.takeForRun(input.byteSize()).segment();
            TensorCopy.copy(input.bytes(), bytes);
            if (copy == null || !isFor(copy, input, bytes)) {
                copy = new Tensor(input.spec(), bytes);
                copies[index] = copy;
            }
            made[index] = true;
        }
        return copy;
    }

    @SuppressWarnings("ReferenceEquality") // the very spec that every request of a kept ticket has
    private static boolean isFor(Tensor copy, Tensor input, MemorySegment bytes) {
        return copy.spec() == input.spec() && copy.bytes().equals(bytes);
    }

    void clear() {
        Arrays.fill(made, false);
    }
}
