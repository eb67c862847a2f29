// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.connection.RequestBody;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeCopy;
import gatun.runtime.InferenceRequest;
import gatun.v1.InputData;
import java.lang.foreign.MemorySegment;

/** The inputs' data as it lies in a body, one after the other without gaps. For one request. */
final class BodyData implements InputData {
    private final BufferPool buffers;
    private final MemorySegment body;
    private long at;

    /** The data in {@code landed}, which its owner keeps. */
    BodyData(BufferPool buffers, RequestBody.Landed landed) {
        this.buffers = buffers;
        this.body = landed.segment().asSlice(landed.offset(), landed.byteSize());
    }

    @Override
    public MemorySegment next(String input, Datatype datatype, long byteSize, InferenceRequest request) {
        long available = body.byteSize() - at;
        if (Long.compareUnsigned(byteSize, available) > 0) {
            throw GatunException.invalidArgument("unexpected size for input '" + input + "', expecting "
                    + Long.toUnsignedString(byteSize - available) + " bytes for model '"
                    + request.model().name() + "'");
        }
        MemorySegment bytes = body.asSlice(at, byteSize);
        at += byteSize;
        if (datatype.isFixedSize() && (bytes.address() & (datatype.byteSize() - 1)) != 0) {
            Buffer aligned = buffers.take(byteSize);
            request.hold(aligned);
            CooperativeCopy.copy(bytes, aligned.segment());
            return aligned.segment();
        }
        return bytes;
    }

    @Override
    public void end(InferenceRequest request) {
        if (at != body.byteSize()) {
            throw GatunException.invalidArgument("unexpected additional input data for model '"
                    + request.model().name() + "'");
        }
    }

    @Override
    public GatunException wrongWindow(String input, long byteSize, long expected, String model) {
        return GatunException.invalidArgument("unexpected shared-memory size " + Long.toUnsignedString(byteSize)
                + " for input '" + input + "', expecting " + expected + " for model '" + model + "'");
    }
}
