// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A response reads its piece of a batch's buffer and lets go, while the batch does: the buffer is nobody else's before
 * that.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "it read what the batch wrote")
@Outcome(expect = Expect.FORBIDDEN, desc = "the buffer was another's already")
@State
public class SharedHoldsStress {
    private static final int BYTES = 64;
    private static final BufferPool POOL = new BufferPool(1 << 26);

    private final MemorySegment memory;
    private final SharedHolds shared;
    private final Hold piece;

    /** A batch with a response. */
    public SharedHoldsStress() {
        Buffer buffer = POOL.take(BYTES);
        memory = buffer.segment();
        memory.set(ValueLayout.JAVA_INT, 0, 1);
        shared = new SharedHolds(List.of(buffer));
        piece = shared.share();
    }

    /** The response goes to the network. */
    @Actor
    public void send(I_Result result) {
        result.r1 = memory.get(ValueLayout.JAVA_INT, 0);
        piece.close();
    }

    /** The batch is over, and another request takes what comes back. */
    @Actor
    public void batch() {
        shared.release();
        try (Buffer next = POOL.take(BYTES)) {
            next.segment().set(ValueLayout.JAVA_INT, 0, -1);
        }
    }
}
