// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A client submits while the server falls asleep: the server sees the entry, or the client rings. */
@JCStressTest
@Outcome(
        id = {"true, true", "true, false", "false, true"},
        expect = Expect.ACCEPTABLE,
        desc = "seen, or woken, or both")
@Outcome(expect = Expect.FORBIDDEN, desc = "the server sleeps, and nobody wakes it")
@State
public class SubmitWakeStress {
    private static final LaneGeometry GEOMETRY = new LaneGeometry(1, 1, 0);

    private final LaneMemory lane =
            new LaneMemory(MemorySegment.ofArray(new long[(int) GEOMETRY.byteSize() / Long.BYTES]), GEOMETRY);

    private int bell;

    /** The client. */
    @Actor
    public void submit() {
        lane.submit(RingEntry.of(0, RingEntry.INFER, 1));
    }

    /** The server. */
    @Actor
    public void sleep(ZZ_Result result) {
        bell = lane.serverBell();
        lane.sayServerSleeps();
        result.r1 = lane.entry(0) != 0;
    }

    /** Stores whether the word has changed that the server sleeps on. */
    @Arbiter
    public void end(ZZ_Result result) {
        result.r2 = lane.serverBell() != bell;
    }
}
