// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.InlineExecutor.InstanceOffers;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A request thread takes an idle instance while another, which has the lock, recalls it: one of them has it. */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "it is lent, and both know it")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "it is withheld")
@Outcome(expect = Expect.FORBIDDEN, desc = "both have it, or neither")
@State
public class OfferTakeStress {
    private final InstanceOffers offers = new InstanceOffers();
    private int lent;

    public OfferTakeStress() {
        offers.offer(0);
    }

    /** The request thread. */
    @Actor
    public void take(II_Result result) {
        result.r1 = offers.take() == 0 ? 1 : 0;
    }

    /** The one that has the lock. */
    @Actor
    public void recall(II_Result result) {
        offers.recall(instance -> lent++);
        result.r2 = lent;
    }
}
