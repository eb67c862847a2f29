// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.Latencies;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An instance counts two durations while a scrape reads them: it sees none, one or both, and never half of a number.
 */
@JCStressTest
@Outcome(
        id = "[012], [012]",
        expect = Expect.ACCEPTABLE,
        desc = "what was counted until then; the sum may be one ahead or behind")
@Outcome(expect = Expect.FORBIDDEN, desc = "a torn number")
@State
public class HistogramStress {
    /** Differs from 0 in both halves. */
    private static final long NANOS = 0x1_0000_0001L;

    private final Histogram histogram = new Histogram();

    /** The instance. */
    @Actor
    public void execute() {
        histogram.add(NANOS);
        histogram.add(NANOS);
    }

    /** The scrape. */
    @Actor
    public void read(II_Result result) {
        Latencies seen = histogram.snapshot();
        result.r1 = (int) seen.count();
        result.r2 = seen.sumNanos() % NANOS == 0 ? (int) (seen.sumNanos() / NANOS) : -1;
    }
}
