// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Hold;
import gatun.runtime.OutputTensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outputs of one request that were made and have not been handed on, in the order in which it wants them. Owns the
 * buffers that they lie in. Used by the instance's thread, and by the request's own when the run is over.
 */
final class MadeOutputs {
    private final @Nullable OutputTensor[] outputs;
    private final @Nullable Hold[] buffers;

    /** Room for that many. */
    MadeOutputs(int count) {
        outputs = new OutputTensor[count];
        buffers = new Hold[count];
    }

    /** What was made as output {@code index}; null when nothing was yet. */
    @Nullable
    OutputTensor get(int index) {
        return outputs[index];
    }

    /**
     * Sets an output and takes over the buffer that it lies in; null where it lies elsewhere. Frees what was there
     * before.
     */
    void set(int index, OutputTensor output, @Nullable Hold buffer) {
        Hold previous = buffers[index];
        outputs[index] = output;
        buffers[index] = buffer;
        if (previous != null) {
            previous.close();
        }
    }

    boolean isEmpty() {
        for (OutputTensor output : outputs) {
            if (output != null) {
                return false;
            }
        }
        return true;
    }

    /** Hands on what was made, and forgets it: the outputs, and the buffers, which the caller owns from now on. */
    void moveTo(List<OutputTensor> made, List<Hold> holds) {
        for (int i = 0; i < outputs.length; i++) {
            OutputTensor output = outputs[i];
            Hold buffer = buffers[i];
            if (output != null) {
                made.add(output);
            }
            if (buffer != null) {
                holds.add(buffer);
            }
            outputs[i] = null;
            buffers[i] = null;
        }
    }

    /** Frees what was made. */
    void drop() {
        for (int i = 0; i < buffers.length; i++) {
            Hold buffer = buffers[i];
            outputs[i] = null;
            buffers[i] = null;
            if (buffer != null) {
                buffer.close();
            }
        }
    }
}
