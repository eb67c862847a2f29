// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two requests settle their leases of a retired region at the same time: it is released after both, and once. */
@JCStressTest
@Outcome(id = "0, 0, 1", expect = Expect.ACCEPTABLE, desc = "let go by the last")
@Outcome(expect = Expect.FORBIDDEN, desc = "1: let go while in use; last figure: how often it was let go")
@State
public class LastLeaseStress {
    private final AtomicInteger released = new AtomicInteger();
    private final LeaseCount count = new LeaseCount(released::incrementAndGet);

    /** A retired region with two users. */
    public LastLeaseStress() {
        count.tryAcquire();
        count.tryAcquire();
        count.retire();
    }

    private int leave() {
        int seen = released.get();
        count.release();
        return seen;
    }

    /** A request. */
    @Actor
    public void first(III_Result result) {
        result.r1 = leave();
    }

    /** Another request. */
    @Actor
    public void second(III_Result result) {
        result.r2 = leave();
    }

    /** Stores how often the region was released. */
    @Arbiter
    public void end(III_Result result) {
        result.r3 = released.get();
    }
}
