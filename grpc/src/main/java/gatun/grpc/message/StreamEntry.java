// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.connection.OutboundMessage;
import gatun.memory.tensor.GatunException;
import gatun.runtime.logging.AccessEntry;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/** The entry of one request of a stream in the access log; nothing where there is no such log. For one thread at a time. */
final class StreamEntry {
    private static final String TRANSPORT = "grpc_stream";

    private final @Nullable AccessEntry entry;
    private final long receivedByteSize;
    private long sentByteSize;

    private StreamEntry(@Nullable AccessEntry entry, long receivedByteSize) {
        this.entry = entry;
        this.receivedByteSize = receivedByteSize;
    }

    /** The entry of a request that has come on the call whose thread calls. */
    static StreamEntry begin(InferenceCall.Message message) {
        AccessEntry call = AccessEntry.current();
        return call == null
                ? new StreamEntry(null, 0)
                : new StreamEntry(call.onStream(TRANSPORT), message.bytes().byteSize());
    }

    /** The calling thread, which ends after the request, answers it. */
    void bind() {
        if (entry != null) {
            entry.bind();
        }
    }

    /** Counts a message that is about to be sent. */
    OutboundMessage counted(OutboundMessage message) {
        sentByteSize += message.byteSize();
        return message;
    }

    /** The request has its last response, or has failed. */
    void end(@Nullable GatunException failure) {
        if (entry != null) {
            Status status = failure == null ? Status.OK : StatusTable.toStatus(failure);
            entry.byteSizes(receivedByteSize, sentByteSize);
            entry.end(status.getCode().name());
        }
    }
}
