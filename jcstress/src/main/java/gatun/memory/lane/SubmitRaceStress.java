// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two threads of a client submit at a time: the server finds both entries, in either order. */
@JCStressTest
@Outcome(
        id = {"1025, 2049", "2049, 1025"},
        expect = Expect.ACCEPTABLE,
        desc = "both are there")
@Outcome(expect = Expect.FORBIDDEN, desc = "one was lost")
@State
public class SubmitRaceStress {
    private static final LaneGeometry GEOMETRY = new LaneGeometry(1, 1, 0);

    private final LaneMemory lane =
            new LaneMemory(MemorySegment.ofArray(new long[(int) GEOMETRY.byteSize() / Long.BYTES]), GEOMETRY);

    /** A thread of the client. */
    @Actor
    public void first() {
        lane.submit(1025);
    }

    /** Another thread of the client. */
    @Actor
    public void second() {
        lane.submit(2049);
    }

    /** Stores what the server finds. */
    @Arbiter
    public void end(II_Result result) {
        result.r1 = lane.entry(0);
        result.r2 = lane.entry(1);
    }
}
