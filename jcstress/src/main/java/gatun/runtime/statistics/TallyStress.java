// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.statistics.Histogram.SingleWriterCounter;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An instance counts an execution, its time before its number, while a scrape reads them the other way round. */
@JCStressTest
@Outcome(id = "0, [01]", expect = Expect.ACCEPTABLE, desc = "read before the execution was counted, or in the middle")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "read after it")
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "an execution that took no time")
@Outcome(expect = Expect.FORBIDDEN, desc = "a torn number")
@State
public class TallyStress {
    /** Differs from 0 in both halves. */
    private static final long NANOS = 0x1_0000_0001L;

    private final SingleWriterCounter nanos = new SingleWriterCounter();
    private final SingleWriterCounter count = new SingleWriterCounter();

    /** The instance. */
    @Actor
    public void execute() {
        nanos.add(NANOS);
        count.add(1);
    }

    /** The scrape. */
    @Actor
    public void read(II_Result result) {
        result.r1 = (int) count.get();
        long seen = nanos.get();
        result.r2 = seen == 0 ? 0 : seen == NANOS ? 1 : 2;
    }
}
