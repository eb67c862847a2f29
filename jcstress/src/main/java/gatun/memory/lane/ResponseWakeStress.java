// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import gatun.memory.lane.SlotLayout.SlotState;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The server answers while the client falls asleep: the client sees the answer, or the server wakes it. */
@JCStressTest
@Outcome(
        id = {"false, true", "false, false", "true, false"},
        expect = Expect.ACCEPTABLE,
        desc = "seen, or woken, or both")
@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "the client sleeps, and nobody wakes it")
@State
public class ResponseWakeStress {
    private static final LaneGeometry GEOMETRY = new LaneGeometry(1, 1, 0);

    private final LaneMemory lane =
            new LaneMemory(MemorySegment.ofArray(new long[(int) GEOMETRY.byteSize() / Long.BYTES]), GEOMETRY);

    /** A slot that has a request. */
    public ResponseWakeStress() {
        lane.state(0, SlotState.FILLED);
    }

    /** The server. */
    @Actor
    public void answer() {
        lane.answer(0, SlotState.DONE);
    }

    /** The client. */
    @Actor
    public void sleep(ZZ_Result result) {
        result.r1 = lane.sayClientSleeps(0);
    }

    /** Stores whether the client is still asleep. */
    @Arbiter
    public void end(ZZ_Result result) {
        result.r2 = lane.isClientAsleep(0);
    }
}
