// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import java.lang.foreign.MemorySegment;

/**
 * Where a transport has the data of the inputs that do not lie in shared memory, one input after the other. For one
 * request.
 */
public interface InputData {
    /**
     * The data of the next input, aligned as its elements are. Valid as long as {@code request} holds its memory.
     *
     * @param byteSize what the input must have
     * @throws GatunException INVALID_ARGUMENT with the transport's text when there is not so much, or for gRPC more
     */
    MemorySegment next(String input, Datatype datatype, long byteSize, InferenceRequest request);

    /**
     * All inputs have their data.
     *
     * @throws GatunException INVALID_ARGUMENT with the transport's text when more was sent than they take
     */
    void end(InferenceRequest request);

    /** The failure for a window of shared memory that has not the size that its input must have. */
    GatunException wrongWindow(String input, long byteSize, long expected, String model);
}
