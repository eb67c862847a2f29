// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.connection.OutboundMessage;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;

/**
 * Puts together messages that end with the data of tensors: the bytes before a tensor's data from the heap, then the
 * data from where it lies.
 */
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
     * @param tensors the tensors' data
     * @param hold keeps the data valid; closed with the message
     * @throws GatunException INVALID_ARGUMENT when the message is larger than gRPC's may be; the hold is the caller's
     *     then
     */
    public static OutboundMessage of(int outer, WireWriter head, int field, MemorySegment[] tensors, Hold hold) {
        int cut = head.size();
        long byteSize = 0;
        int sentCount = 0;
        for (MemorySegment tensor : tensors) {
            long length = tensor.byteSize();
            head.header(field, length);
            byteSize += length;
            sentCount += length > 0 ? 1 : 0;
        }
        byteSize += head.size();
        if (byteSize > Integer.MAX_VALUE) {
            throw GatunException.invalidArgument(
                    "Response has byte size " + byteSize + " which exceeds gRPC's byte size limit 2147483647.");
        }
        boolean ends = tensors.length > 0 && tensors[tensors.length - 1].byteSize() > 0;
        MemorySegment[] parts = new MemorySegment[2 * sentCount + (ends ? 0 : 1) + (outer == NOT_NESTED ? 0 : 1)];
        int count = 0;
        if (outer != NOT_NESTED) {
            WireWriter wrapping = new WireWriter();
            wrapping.header(outer, byteSize);
            parts[count++] = wrapping.segment();
        }
        MemorySegment heads = head.segment();
        int from = 0;
        for (MemorySegment tensor : tensors) {
            long length = tensor.byteSize();
            cut += 1 + WireWriter.varintSize(length);
            if (length > 0) {
                parts[count++] = heads.asSlice(from, cut - from);
                parts[count++] = tensor;
                from = cut;
            }
        }
        if (!ends) {
            parts[count] = heads.asSlice(from, head.size() - from);
        }
        return new OutboundMessage(parts, hold);
    }
}
