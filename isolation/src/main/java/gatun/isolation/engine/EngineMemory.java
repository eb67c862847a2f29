// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.SharedFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The memory that this process shares with the server: the server's, in which inputs lie, and its own, which it lends
 * the server outputs in. Safe for any thread.
 */
final class EngineMemory {
    private final BufferPool responses;
    private final Map<Long, Buffer> lent = new ConcurrentHashMap<>();
    private volatile @Nullable SharedFile requests;
    private volatile @Nullable SharedFile server;

    /** @param byteLimit the most bytes of outputs that are made or lent at a time */
    EngineMemory(long byteLimit) {
        responses = BufferPool.shared("gatun-responses", byteLimit);
    }

    SharedFile responseFile() {
        return responses.file();
    }

    /** Maps the memory in which inputs lie. */
    void mapRequests(Path file, long byteSize) {
        requests = SharedFile.open(file, byteSize);
    }

    /** Maps the server's own memory, in which inputs lie too. */
    void mapServer(Path file, long byteSize) {
        server = SharedFile.openToRead(file, byteSize);
    }

    /**
     * An input's bytes; valid during its run.
     *
     * @param place where it begins in the server's own memory, or the complement of where it does in the other
     */
    MemorySegment request(long place, long byteSize) {
        return place < 0
                ? Objects.requireNonNull(requests).segment(~place, byteSize)
                : Objects.requireNonNull(server).segment(place, byteSize);
    }

    /** Memory for an output. */
    Buffer take(long byteSize) {
        return responses.take(byteSize);
    }

    /** Notes that the server has an output, until it {@linkplain #release gives it back}. */
    void lend(Buffer output) {
        lent.put(output.offset(), output);
    }

    /** Takes an output back. */
    void release(long offset) {
        Buffer output = lent.remove(offset);
        if (output != null) {
            output.close();
        }
    }
}
