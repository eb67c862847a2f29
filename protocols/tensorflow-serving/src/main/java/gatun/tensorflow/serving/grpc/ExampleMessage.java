// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.RawMessage;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.tensorflow.serving.Servable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A classify, regress or multi-inference request, well formed; its examples stay in the message. */
final class ExampleMessage extends RawMessage {
    /** A task of a MultiInferenceRequest, run on its examples. {@code method} is the method's name in signatures. */
    record Task(Servable servable, String method) {}

    /** Whether there is a model_spec at all; of a MultiInferenceRequest each task has its own. */
    boolean hasServable;

    Servable servable = ServableReader.NOTHING;
    ClientQuotaKey sender = ClientQuotaKey.THIS_PROCESS;
    final List<Task> tasks = new ArrayList<>(2);

    ExampleMessage(MemorySegment bytes) {
        super(bytes, NOTHING);
    }

    /** Finds the examples. Throws {@link gatun.memory.tensor.GatunException} INVALID_ARGUMENT when there are none. */
    ExampleInput input() {
        return ExampleInput.of(bytes());
    }
}
