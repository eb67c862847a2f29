// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Owns the tensors of a run: the inputs until it starts, its outputs afterwards. For one thread at a time. */
final class Run implements AutoCloseable {
    private final AtenTensors tensors;
    private final MemorySegment inputs;
    private final int inputCount;
    private final MemorySegment outputs;
    private final int outputCount;

    /** Takes over the tensors that are there; both arrays have room for all, with NULL in the other places. */
    Run(AtenTensors tensors, MemorySegment inputs, int inputCount, MemorySegment outputs, int outputCount) {
        this.tensors = tensors;
        this.inputs = inputs;
        this.inputCount = inputCount;
        this.outputs = outputs;
        this.outputCount = outputCount;
    }

    /** Runs the model on the inputs, which are complete; {@code outputs} has the results then. */
    void start(Container container) {
        tensors.live().freed(inputCount);
        try {
            container.run(inputs, inputCount, outputs, outputCount);
        } finally {
            // Whatever becomes of the run, the inputs are the model's.
            inputs.fill((byte) 0);
            for (int i = 0; i < outputCount; i++) {
                if (outputs.getAtIndex(ValueLayout.ADDRESS, i).address() != 0) {
                    tensors.live().made(1);
                }
            }
        }
    }

    /** Deletes the tensors that there are, and makes room for another run. */
    @Override
    public void close() {
        delete(inputs, inputCount);
        delete(outputs, outputCount);
        tensors.live().tell();
    }

    private void delete(MemorySegment handles, int count) {
        for (int i = 0; i < count; i++) {
            MemorySegment tensor = handles.getAtIndex(ValueLayout.ADDRESS, i);
            if (tensor.address() != 0) {
                tensors.delete(tensor);
                handles.setAtIndex(ValueLayout.ADDRESS, i, MemorySegment.NULL);
            }
        }
    }
}
