// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import gatun.memory.lane.SlotLayout.SlotState;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** Who sees an entry sees the request, and who sees an answer's state sees the answer. */
@JCStressTest
@Outcome(
        id = {"-1, -1", "7, -1", "7, 9", "-1, 9"},
        expect = Expect.ACCEPTABLE,
        desc = "all of it, or not yet")
@Outcome(expect = Expect.FORBIDDEN, desc = "an old word behind a new state")
@State
public class SlotContentStress {
    private static final LaneGeometry GEOMETRY = new LaneGeometry(1, 1, 0);

    private final LaneMemory lane =
            new LaneMemory(MemorySegment.ofArray(new long[(int) GEOMETRY.byteSize() / Long.BYTES]), GEOMETRY);

    /** The client submits, and looks for the answer. */
    @Actor
    public void client(JJ_Result result) {
        long slot = lane.slotOffset(0);
        lane.setLong(slot + SlotLayout.SEQUENCE, 7);
        lane.state(0, SlotState.FILLED);
        lane.submit(RingEntry.of(0, RingEntry.INFER, 1));
        result.r2 = lane.state(0) == SlotState.DONE ? lane.getLong(slot + SlotLayout.VERSION) : -1;
    }

    /** The server looks for a request, and answers. */
    @Actor
    public void server(JJ_Result result) {
        long slot = lane.slotOffset(0);
        if (lane.entry(0) == 0) {
            result.r1 = -1;
            return;
        }
        result.r1 = lane.getLong(slot + SlotLayout.SEQUENCE);
        lane.setLong(slot + SlotLayout.VERSION, 9);
        lane.answer(0, SlotState.DONE);
    }
}
