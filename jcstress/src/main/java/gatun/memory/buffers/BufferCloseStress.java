// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two threads take a buffer of one pool, write to it, read it and close it: neither ever sees the other's mark. */
@JCStressTest
@Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "each had memory of its own")
@Outcome(expect = Expect.FORBIDDEN, desc = "one wrote to the other's memory")
@State
public class BufferCloseStress {
    private static final int BYTES = 64;

    /** One for all states, as one pool is for all requests. */
    private static final BufferPool POOL = new BufferPool(1 << 26);

    private static int use(int mark) {
        try (Buffer buffer = POOL.take(BYTES)) {
            MemorySegment memory = buffer.segment();
            memory.set(ValueLayout.JAVA_INT, 0, mark);
            Thread.onSpinWait();
            return memory.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /** A request. */
    @Actor
    public void first(II_Result result) {
        result.r1 = use(1);
    }

    /** Another request. */
    @Actor
    public void second(II_Result result) {
        result.r2 = use(2);
    }
}
