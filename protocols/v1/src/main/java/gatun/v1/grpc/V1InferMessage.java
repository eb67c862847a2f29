// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import gatun.grpc.message.RawMessage;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelVersion;
import gatun.wire.v1.InferRequestHeader;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** An InferRequest as it was read: well formed, but not yet checked against anything. */
final class V1InferMessage extends RawMessage {
    String modelName = "";
    long modelVersion;
    InferRequestHeader header = InferRequestHeader.getDefaultInstance();

    /** The version that answers; null until it was found. */
    @Nullable
    ModelVersion model;

    /** A message in {@code bytes}, which are valid until {@code hold} is closed. */
    V1InferMessage(MemorySegment bytes, Hold hold) {
        super(bytes, hold);
    }
}
