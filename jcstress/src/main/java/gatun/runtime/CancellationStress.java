// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** A request begins to wait while its client cancels it, twice: it is told once, before it waits or meanwhile. */
@JCStressTest
@Outcome(id = "true, 1", expect = Expect.ACCEPTABLE, desc = "given up while it waits")
@Outcome(id = "false, 0", expect = Expect.ACCEPTABLE, desc = "given up before it waits")
@Outcome(id = "true, 0", expect = Expect.FORBIDDEN, desc = "it waits for nobody")
@Outcome(expect = Expect.FORBIDDEN, desc = "given up twice, or though it does not wait")
@State
public class CancellationStress {
    private final Cancellation cancellation = new Cancellation();
    private final AtomicInteger givenUp = new AtomicInteger();

    /** The request. */
    @Actor
    public void begin(ZI_Result result) {
        result.r1 = cancellation.arm(givenUp::incrementAndGet);
    }

    /** Its client. */
    @Actor
    public void leave() {
        cancellation.cancel();
        cancellation.cancel();
    }

    /** Stores how often the request was told. */
    @Arbiter
    public void end(ZI_Result result) {
        result.r2 = givenUp.get();
    }
}
