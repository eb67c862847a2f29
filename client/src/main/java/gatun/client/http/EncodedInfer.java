// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.memory.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A request for an inference, put together but for its tensors' bytes, which it borrows and reads anew each time. Safe
 * for any thread.
 */
final class EncodedInfer implements OutgoingRequest {
    private final HttpInferRequests owner;
    private final String what;
    private final boolean repeatable;
    private final MemorySegment head;
    private final Tensor[] tensors;

    /**
     * @param owner who made it
     * @param head from the request line to the end of the JSON
     */
    EncodedInfer(HttpInferRequests owner, String what, boolean repeatable, MemorySegment head, Tensor[] tensors) {
        this.owner = owner;
        this.what = what;
        this.repeatable = repeatable;
        this.head = head;
        this.tensors = tensors;
    }

    HttpInferRequests owner() {
        return owner;
    }

    @Override
    public String what() {
        return what;
    }

    @Override
    public boolean isRepeatable() {
        return repeatable;
    }

    @Override
    public void writeTo(RequestWriter writer) throws IOException {
        writer.put(head);
        for (Tensor tensor : tensors) {
            try {
                writer.put(tensor.bytes());
            } catch (IllegalStateException e) {
                throw new IllegalStateException(
                        "the memory of tensor '" + tensor.spec().name() + "' was freed while " + what
                                + " was sent: keep its arena open until the call has returned",
                        e);
            }
        }
    }
}
