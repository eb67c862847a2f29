// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A request leases a region that was unregistered while another request used it, which ends: nobody uses it after its
 * release, and it is released once, whoever leaves last.
 */
@JCStressTest
@Outcome(id = "[01], 1", expect = Expect.ACCEPTABLE, desc = "it came before the end or was refused")
@Outcome(expect = Expect.FORBIDDEN, desc = "2: used after it was let go; second figure: how often it was let go")
@State
public class LeavingLeaseStress {
    private final AtomicInteger released = new AtomicInteger();
    private final LeaseCount count = new LeaseCount(released::incrementAndGet);

    /** With the first request's lease. */
    public LeavingLeaseStress() {
        count.tryAcquire();
    }

    /** The later request. */
    @Actor
    public void use(II_Result result) {
        if (count.tryAcquire()) {
            result.r1 = released.get() == 0 ? 1 : 2;
            count.release();
        }
    }

    /** The client, and the end of the first request. */
    @Actor
    public void leave() {
        count.retireWhenUnused();
        count.release();
    }

    /** Stores how often the region was released. */
    @Arbiter
    public void end(II_Result result) {
        result.r2 = released.get();
    }
}
