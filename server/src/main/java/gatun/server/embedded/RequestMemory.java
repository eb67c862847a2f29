// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.bindings.NativeMemory;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import java.lang.foreign.MemorySegment;

/**
 * The memory in which engines find the inputs of callers in this process: the caller's own where engines can use it,
 * else a copy. Engines need native memory that is aligned for the elements; strings are copied, since they are parsed
 * and their owner may change them meanwhile.
 */
final class RequestMemory {
    private final BufferPool pool;

    RequestMemory(BufferPool pool) {
        this.pool = pool;
    }

    /**
     * Adds an input to a request, which owns the copy where there is one.
     *
     * @param lent whether the caller keeps the memory until the request was answered, so that it need not be copied
     * @throws IllegalStateException when the memory was freed, or is another thread's
     */
    void addInput(InferenceRequest request, Tensor input, boolean lent) {
        MemorySegment bytes = input.bytes();
        String what = "the memory of input '" + input.spec().name() + "' of model '"
                + request.model().name() + "' ";
        if (!bytes.scope().isAlive()) {
            throw new IllegalStateException(what + "was freed: keep its arena open until the call has returned");
        }
        if (!bytes.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalStateException(
                    what + "belongs to another thread: take it from a shared arena, or make the call on its thread");
        }
        Datatype datatype = input.spec().datatype();
        boolean inPlace =
                lent && bytes.isNative() && datatype.isFixedSize() && bytes.address() % datatype.byteSize() == 0;
        if (inPlace) {
            // A view without an owner: an instance's thread may not touch memory that is confined to the caller's.
            request.addInput(new Tensor(input.spec(), NativeMemory.segment(bytes.address(), bytes.byteSize())));
            return;
        }
        Buffer copy = pool.copyOf(bytes);
        request.hold(copy);
        request.addInput(new Tensor(input.spec(), copy.segment()));
    }
}
