// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Native memory of a response, lent by {@link ClientMemory} until closed. Used by its holder only. */
public final class ResponseBuffer implements Hold {
    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(ResponseBuffer.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ResponseBlocks.Block block;
    private final MemorySegment segment;
    private volatile boolean closed;

    ResponseBuffer(ResponseBlocks.Block block, long byteSize) {
        this.block = block;
        this.segment = block.memory().asSlice(0, byteSize);
    }

    /** The memory, aligned to 64, of the size that was asked for; its content is undefined at first. */
    public MemorySegment segment() {
        assert !closed : "the memory of a response was used after it was closed";
        return segment;
    }

    /** The size that was asked for, in bytes. */
    public long byteSize() {
        return segment.byteSize();
    }

    @Override
    public void close() {
        boolean ended = CLOSED.compareAndSet(this, false, true);
        assert ended : "the memory of a response was closed twice";
        if (ended) {
            ClientMemory.takeBack(block, segment.byteSize());
        }
    }
}
