// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.InferInput;
import gatun.client.InferRequest;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Whether the memory of a request can be read. Stateless and safe for any thread. */
public final class TensorMemory {
    private TensorMemory() {}

    /** Throws {@link IllegalStateException} for memory of an input that was freed, or is another thread's. */
    public static void requireReadable(InferRequest request) {
        List<InferInput> inputs = request.inputs();
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i) instanceof InferInput.Sent sent) {
                requireReadable(sent.tensor());
            }
        }
    }

    private static void requireReadable(Tensor tensor) {
        MemorySegment bytes = tensor.bytes();
        if (!bytes.scope().isAlive()) {
            throw new IllegalStateException(
                    "the memory of tensor '" + tensor.spec().name()
                            + "' was freed: keep its arena open until the last call of the request has returned");
        }
        if (!bytes.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalStateException(
                    "the memory of tensor '" + tensor.spec().name()
                            + "' is confined to another thread: allocate it in Arena.ofShared(), or call from its"
                            + " own thread;"
                            + " asynchronous calls have threads of their own");
        }
    }
}
