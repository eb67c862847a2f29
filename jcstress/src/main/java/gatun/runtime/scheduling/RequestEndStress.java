// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An instance leaves its result in a request and ends it, while the one that waits looks at it: whoever sees the end
 * sees the result.
 */
@JCStressTest
@Outcome(id = "0, [01]", expect = Expect.ACCEPTABLE, desc = "it still runs")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "it has ended, and here is the result")
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "it has ended without a result")
@State
public class RequestEndStress {
    /** A request. */
    private static final class Job extends PendingRequest {
        private int response;
    }

    private final Job job = new Job();

    /** The instance. */
    @Actor
    public void run() {
        job.response = 1;
        job.complete();
    }

    /** The request's thread. */
    @Actor
    public void await(II_Result result) {
        result.r1 = job.state() == PendingRequest.State.COMPLETED ? 1 : 0;
        result.r2 = job.response;
    }
}
