// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.SharedFile;
import gatun.workers.InheritedFiles;
import gatun.workers.SharedMemoryChannels;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Memory shared with the server: its inputs, and outputs lent to it. Thread-safe. */
final class EngineMemory {
    private final BufferPool responses;
    private final Map<Long, Buffer> lent = new ConcurrentHashMap<>();
    private final SharedFile requests;
    private final Optional<SharedFile> server;
    private final SharedMemoryChannels mailboxes;

    /** Maps what this process was started with, for at most so many bytes of outputs made or lent at a time. */
    EngineMemory(long byteLimit, boolean hasServer) {
        requests = SharedFile.inherited(InheritedFiles.FIRST, false);
        responses = BufferPool.in(SharedFile.inherited(InheritedFiles.FIRST + 1, false), byteLimit);
        mailboxes = SharedMemoryChannels.of(SharedFile.inherited(InheritedFiles.FIRST + 2, false));
        server = hasServer ? Optional.of(SharedFile.inherited(InheritedFiles.FIRST + 3, true)) : Optional.empty();
    }

    SharedMemoryChannels mailboxes() {
        return mailboxes;
    }

    /** An input during its run: at {@code place} in the server's memory, or at its complement in request memory. */
    MemorySegment request(long place, long byteSize) {
        return place < 0
                ? requests.segment(~place, byteSize)
                : server.orElseThrow().segment(place, byteSize);
    }

    Buffer take(long byteSize) {
        return responses.take(byteSize);
    }

    /** Notes that the server has an output, until it {@linkplain #release gives it back}. */
    void lend(Buffer output) {
        lent.put(output.offset(), output);
    }

    void release(long offset) {
        Buffer output = lent.remove(offset);
        if (output != null) {
            output.close();
        }
    }
}
