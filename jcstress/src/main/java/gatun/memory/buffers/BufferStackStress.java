// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.buffers.BufferBlocks.BufferTable;
import gatun.memory.buffers.CoreCaches.BufferStack;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * One thread takes a buffer while another takes two and puts the first back, so that the top is the same again and what
 * lies below it is not: no buffer has two holders, and none is lost.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "each buffer has one holder")
@Outcome(expect = Expect.FORBIDDEN, desc = "first figure: buffers with two holders; second: buffers lost")
@State
public class BufferStackStress {
    private static final int BUFFERS = 3;
    private static final int SHIFT = 6;

    private final BufferTable table = new BufferTable();
    private final BufferStack stack = new BufferStack();
    private final @Nullable Buffer[] held = new Buffer[2];

    /** A full stack. */
    public BufferStackStress() {
        for (int i = 0; i < BUFFERS; i++) {
            int number = table.reserve();
            Buffer buffer = new Buffer((idle, charged) -> {}, number, SHIFT, 0, (long) number << SHIFT, null);
            table.put(buffer);
            stack.push(buffer);
        }
    }

    /** Takes one. */
    @Actor
    public void take() {
        held[0] = stack.pop(table);
    }

    /** Takes two, and puts back the one that was on top. */
    @Actor
    public void takeTwoAndPutBackOne() {
        Buffer top = stack.pop(table);
        Buffer below = stack.pop(table);
        if (top != null) {
            stack.push(top);
        }
        held[1] = below;
    }

    /** Counts the owners of each buffer. */
    @Arbiter
    public void count(II_Result result) {
        int[] holders = new int[BUFFERS + 1];
        for (Buffer buffer : held) {
            if (buffer != null) {
                holders[buffer.number]++;
            }
        }
        // A broken chain may run in circles; no whole one is longer than all buffers.
        Buffer next = stack.pop(table);
        for (int i = 0; i <= BUFFERS && next != null; i++) {
            holders[next.number]++;
            next = stack.pop(table);
        }
        for (int number = 1; number <= BUFFERS; number++) {
            result.r1 += holders[number] > 1 ? 1 : 0;
            result.r2 += holders[number] == 0 ? 1 : 0;
        }
    }
}
