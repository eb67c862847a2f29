// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.frames.OutboundMessage;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;

/** Messages that end with tensors' data: bytes from the heap, then the data from where it lies. */
public final class TensorMessage {
    /** Stands for a message that is not a field of another. */
    public static final int NOT_NESTED = 0;

    private TensorMessage() {}

    /**
     * A message of the bytes in {@code head}, followed by a bytes field for each tensor.
     *
     * @param outer the number of the field that the whole is in a message of nothing else; {@link #NOT_NESTED} for none
     * @param head the bytes before the tensors; written to
     * @param field the number of the tensors' fields, below 16
     * @param tensors the tensors' data; the array is not copied
     * @param hold keeps the data valid; closed with the message
     * @throws GatunException INVALID_ARGUMENT when the message is larger than gRPC's may be; the hold is the caller's
     *     then
     */
    public static OutboundMessage of(int outer, WireWriter head, int field, MemorySegment[] tensors, Hold hold) {
        int[] ends = new int[tensors.length];
        long byteSize = 0;
        for (int i = 0; i < tensors.length; i++) {
            long length = tensors[i].byteSize();
            head.header(field, length);
            ends[i] = head.size();
            byteSize += length;
        }
        byteSize += head.size();
        if (byteSize > Integer.MAX_VALUE) {
            throw GatunException.invalidArgument(
                    "Response has byte size " + byteSize + " which exceeds gRPC's byte size limit 2147483647.");
        }
        if (outer == NOT_NESTED) {
            return new OutboundMessage(head.bytes(), head.size(), ends, tensors, hold);
        }
        WireWriter wrapped = new WireWriter();
        wrapped.header(outer, byteSize);
        int before = wrapped.size();
        wrapped.raw(head);
        for (int i = 0; i < ends.length; i++) {
            ends[i] += before;
        }
        return new OutboundMessage(wrapped.bytes(), wrapped.size(), ends, tensors, hold);
    }
}
