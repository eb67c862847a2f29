// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/** All requests, and their expected responses. Owns the tensors' memory. Thread-safe but for {@link #close}. */
public final class DataSet implements AutoCloseable {
    private final List<Step> steps;
    private final int[] starts;
    private final Arena arena;

    /** The first of {@code steps}, which are not empty, begins a sequence. Owns {@code arena}, the tensors' memory. */
    DataSet(List<Step> steps, Arena arena) {
        this.steps = List.copyOf(steps);
        this.arena = arena;
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            if (steps.get(i).start()) {
                found.add(i);
            }
        }
        starts = found.stream().mapToInt(Integer::intValue).toArray();
    }

    /** How many requests there are. */
    public int size() {
        return steps.size();
    }

    /** Request {@code index}, from 0. */
    public Step step(int index) {
        return steps.get(index);
    }

    /** The first request of worker number {@code worker}, so that not all send the same: where a sequence begins. */
    public int first(int worker) {
        return starts[worker % starts.length];
    }

    /** The request after {@code index}; after the last comes the first. */
    public int next(int index) {
        return (index + 1) % steps.size();
    }

    /** Whether anything is expected of any response. */
    public boolean checksResponses() {
        return steps.stream().anyMatch(step -> !step.expected().isNothing());
    }

    @Override
    public void close() {
        arena.close();
    }

    /** One request of a data set, which owns the inputs. {@code start} and {@code end} are a sequence's. */
    public record Step(List<Tensor> inputs, ExpectedOutputs expected, boolean start, boolean end) {
        /** Keeps a copy of the list. */
        public Step {
            inputs = List.copyOf(inputs);
        }

        /** Bytes of all inputs. */
        public long byteSize() {
            long byteSize = 0;
            for (Tensor input : inputs) {
                byteSize += input.byteSize();
            }
            return byteSize;
        }
    }
}
