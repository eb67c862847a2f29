// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import gatun.grpc.message.RawAlignment;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.v1.InputData;
import java.lang.foreign.MemorySegment;

/** The inputs' data as it lies in a message, an entry for each. For one request. */
final class RawInputs implements InputData {
    private final InferMessage message;
    private final RawAlignment alignment;
    private int next;

    /** The data of {@code message}; copies that are needed are taken of {@code pool}. */
    RawInputs(InferMessage message, BufferPool pool) {
        this.message = message;
        this.alignment = new RawAlignment(message.bytes(), pool);
    }

    @Override
    public MemorySegment next(String input, Datatype datatype, long byteSize, InferenceRequest request) {
        if (next >= message.rawCount()) {
            throw GatunException.invalidArgument("expected tensor data for at least " + next + " inputs but got only "
                    + message.rawCount() + " sets of data for model '" + message.modelName + "'");
        }
        int length = message.rawLength(next);
        if (length != byteSize) {
            throw wrongWindow(input, length, byteSize, message.modelName);
        }
        return alignment.aligned(message.rawStart(next++), length, datatype, request);
    }

    /** Entries that no input takes were never looked at. */
    @Override
    public void end(InferenceRequest request) {}

    @Override
    public GatunException wrongWindow(String input, long byteSize, long expected, String model) {
        return GatunException.invalidArgument("unexpected size " + Long.toUnsignedString(byteSize) + " for input '"
                + input + "', expecting " + Long.toUnsignedString(expected) + " for model '" + model + "'");
    }
}
